# The image of ashlar serve: one program, and no other file.
#
#   CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o ashlar ./cmd/ashlar
#   docker build -t ashlar .
#   docker run --rm -p 8000:8000 -v "$PWD/testdata:/models:ro" ashlar /models/digits.onnx
FROM scratch
COPY ashlar /ashlar
USER 65532:65532
EXPOSE 8000
ENTRYPOINT ["/ashlar", "serve", "--listen", ":8000"]
