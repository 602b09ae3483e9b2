module github.com/ashlar-go/ashlar/conformance

go 1.26.0

require (
	github.com/ashlar-go/ashlar v0.1.0
	golang.org/x/image v0.47.0
)

require (
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/ulikunitz/xz v0.5.17 // indirect
	golang.org/x/sys v0.50.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/ashlar-go/ashlar => ..
