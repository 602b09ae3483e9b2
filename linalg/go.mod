module github.com/ashlar-go/ashlar/linalg

go 1.26.0

require (
	github.com/ashlar-go/ashlar v0.1.0
	gonum.org/v1/gonum v0.17.0
)

require golang.org/x/sys v0.50.0 // indirect

replace github.com/ashlar-go/ashlar => ..
