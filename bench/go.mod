module github.com/ashlar-go/ashlar/bench

go 1.26.0

require github.com/ashlar-go/ashlar v0.0.0

require github.com/shopspring/decimal v1.4.0

replace github.com/ashlar-go/ashlar => ..
