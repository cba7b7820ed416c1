package rpc

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

var (
	errHuge     = errors.New("the answer is larger than the bound")
	errEncoding = errors.New("the answer has an encoding that was not requested")
)

const (
	// trustedLength is the largest Content-Length that is allocated before any of the body has arrived.
	trustedLength = 4 << 20
	// excerptLength is how many bytes of an answer are kept for the text of a fault.
	excerptLength = 2 << 10
)

// body is the decompressed body of an answer while it arrives. It counts and bounds the bytes before and after
// decompression, keeps the beginning for the text of a fault, and keeps the error that ended reading early.
type body struct {
	src     io.Reader
	promise int64 // Content-Length, or -1
	limit   int64
	length  int64 // bytes that were read so far
	excerpt []byte
	failed  error
}

// newBody opens the body of an answer; at most limit+1 bytes are read from the connection, and at most as many after
// decompression.
func newBody(resp *http.Response, limit int64) (*body, error) {
	b := &body{promise: resp.ContentLength, limit: limit}
	if resp.ContentLength > limit {
		b.failed = b.huge()
		return b, b.failed
	}
	b.src = io.LimitReader(resp.Body, limit+1)
	switch strings.ToLower(resp.Header.Get("Content-Encoding")) {
	case "", "identity":
	case "gzip":
		unpacked, err := gzip.NewReader(b.src)
		if err != nil {
			return b, fmt.Errorf("decompress the answer: %w", err)
		}
		b.src, b.promise = unpacked, -1
	default:
		return b, errEncoding
	}
	return b, nil
}

func (b *body) huge() error { return fmt.Errorf("%w of %d bytes", errHuge, b.limit) }

// Read fails with errHuge at the first byte over the limit.
func (b *body) Read(p []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	n, err := b.src.Read(p)
	if left := excerptLength - len(b.excerpt); left > 0 {
		b.excerpt = append(b.excerpt, p[:min(n, left)]...)
	}
	b.length += int64(n)
	switch {
	case b.length > b.limit:
		b.failed = b.huge()
		return 0, b.failed
	case err != nil && err != io.EOF:
		b.failed = fmt.Errorf("the answer broke off after %d bytes: %w", b.length, err)
		return n, b.failed
	}
	return n, err
}

// whole reads the rest: into memory of the right size if Content-Length is small, otherwise as it arrives.
func (b *body) whole() ([]byte, error) {
	if b.promise <= 0 || b.promise > trustedLength {
		return io.ReadAll(b)
	}
	buffer := bytes.NewBuffer(make([]byte, 0, b.promise+bytes.MinRead))
	_, err := buffer.ReadFrom(b)
	return buffer.Bytes(), err
}

// begins reads up to the first character that is not a space and returns all that was read, which the caller must read
// again.
func (b *body) begins() ([]byte, error) {
	var head []byte
	chunk := make([]byte, 512)
	for {
		n, err := b.Read(chunk)
		head = append(head, chunk[:n]...)
		if err != nil && err != io.EOF {
			return head, err
		}
		if err == io.EOF || len(bytes.TrimLeft(head, " \t\r\n")) > 0 {
			return head, nil
		}
		head = head[:0] // leading space is dropped
	}
}
