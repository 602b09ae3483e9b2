package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
)

// picture is the picture that every client asks about: a seven.
func picture() []float32 {
	p := make([]float32, 64)
	for i, c := range "" +
		"  *****." +
		"  ..***." +
		"    .** " +
		"   .**. " +
		"  *****." +
		"   **.  " +
		"  .*.   " +
		"  **    " {
		p[i] = map[rune]float32{'*': 1, '.': 0.4375}[c]
	}
	return p
}

// requests returns clients of a server, each with a connection of its own. They are no http.Client, which would take as much
// of the processor as the server that is measured.
func requests(url string, inBytes bool) func() (func() error, func(), error) {
	host := strings.TrimPrefix(url, "http://")
	var body []byte
	header := ""
	if inBytes {
		head := `{"parameters":{"binary_data_output":true},"inputs":[{"name":"image","datatype":"FP32","shape":[1,1,8,8],"parameters":{"binary_data_size":256}}]}`
		header = "Inference-Header-Content-Length: " + strconv.Itoa(len(head)) + "\r\n"
		body, _ = binary.Append([]byte(head), binary.LittleEndian, picture())
	} else {
		data, _ := json.Marshal(picture())
		body = []byte(`{"inputs":[{"name":"image","datatype":"FP32","shape":[1,1,8,8],"data":` + string(data) + `}]}`)
	}
	request := append([]byte("POST /v2/models/digits/infer HTTP/1.1\r\nHost: "+host+"\r\n"+header+"Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"), body...)
	return func() (func() error, func(), error) {
		c, err := net.Dial("tcp", host)
		if err != nil {
			return nil, nil, err
		}
		r := bufio.NewReader(c)
		asked := false
		return func() error {
			if _, err := c.Write(request); err != nil {
				return err
			}
			head, body, err := answer(r)
			if err == nil && !asked {
				asked, err = true, sevenIn(head, body)
			}
			return err
		}, func() { c.Close() }, nil
	}
}

// answer reads an answer. The slice that it returns is valid until the next call.
func answer(r *bufio.Reader) (head int, body []byte, err error) {
	length := -1
	for i := 0; ; i++ {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if i == 0 && !bytes.Equal(line, []byte("HTTP/1.1 200 OK")) {
			return 0, nil, fmt.Errorf("the server answers %s", line)
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			length, err = strconv.Atoi(string(value))
		case bytes.EqualFold(name, []byte("Inference-Header-Content-Length")):
			head, err = strconv.Atoi(string(value))
		}
		if err != nil {
			return 0, nil, err
		}
	}
	if length < 0 || length > r.Size() {
		return 0, nil, fmt.Errorf("the answer has a length of %d", length)
	}
	if body, err = r.Peek(length); err != nil {
		return 0, nil, err
	}
	_, err = r.Discard(length)
	return head, body, err
}

// sevenIn checks an answer; head is how many bytes are JSON if binary data follow.
func sevenIn(head int, body []byte) error {
	var probability []float32
	if head > 0 && head <= len(body) {
		probability = make([]float32, (len(body)-head)/4)
		if _, err := binary.Decode(body[head:], binary.LittleEndian, probability); err != nil {
			return err
		}
	} else {
		var v struct{ Outputs []struct{ Data []float32 } }
		if err := json.Unmarshal(body, &v); err != nil || len(v.Outputs) != 1 {
			return fmt.Errorf("the answer %s: %w", body, io.ErrUnexpectedEOF)
		}
		probability = v.Outputs[0].Data
	}
	if len(probability) != 10 || math.Abs(float64(probability[7])-1) > 0.05 {
		return fmt.Errorf("the answer is %v, no seven", probability)
	}
	return nil
}
