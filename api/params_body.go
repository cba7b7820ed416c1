package api

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
)

// Limits of a body.
const (
	maxBody  = 64 << 10 // bytes
	maxDepth = 8        // of nested objects and arrays, the outermost included
)

// readBody returns the whole body, or body_too_large.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "" {
		return nil, bursar.Refuse(bursar.CodeUnsupportedMediaType, "a body must not be compressed")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, bursar.Refuse(bursar.CodeBodyTooLarge, "a body may have at most %d bytes", maxBody)
	}
	if err != nil {
		return nil, malformed("the body could not be read to its end")
	}
	return body, nil
}

// Errors of bodies that cannot be understood.
var (
	errJSON      = malformed("the body is not one valid JSON object")
	errMultipart = malformed("the multipart body is broken")
)

func isEnd(err error) bool { return errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) }

// addPart reads one field of a multipart form.
func (p params) addPart(part *multipart.Part) error {
	name := part.FormName()
	if name == "" || strings.Contains(part.Header.Get("Content-Disposition"), "filename") {
		return malformed("a part of the multipart body is not a plain field with a name")
	}
	content, err := io.ReadAll(part) // no longer than the body
	if err != nil {
		return errMultipart
	}
	return p.put(name, value{text: string(content)})
}

// addJSON reads one object. The decoder refuses a name twice at any depth, invalid UTF-8, and all that is not JSON by
// RFC 8259; numbers stay the text that they were written as.
func (p params) addJSON(body []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	if begin, err := dec.ReadToken(); err != nil || begin.Kind() != '{' {
		return errJSON
	}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return jsonError(err)
		}
		name := token.String()
		v, err := readValue(dec, body)
		if err != nil {
			return err
		}
		if err := p.put(name, v); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return jsonError(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return malformed("something follows the JSON object")
	}
	return nil
}

func readValue(dec *jsontext.Decoder, body []byte) (value, error) {
	start, depth := dec.InputOffset(), dec.StackDepth()
	first, err := dec.ReadToken()
	if err != nil {
		return value{}, jsonError(err)
	}
	switch first.Kind() {
	case '"':
		return value{text: first.String()}, nil
	case '0':
		return value{text: first.String(), kind: number}, nil
	}
	for dec.StackDepth() > depth {
		if dec.StackDepth() > maxDepth {
			return value{}, malformed("the JSON is nested deeper than %d", maxDepth)
		}
		if _, err := dec.ReadToken(); err != nil {
			return value{}, jsonError(err)
		}
	}
	raw := bytes.TrimLeft(body[start:dec.InputOffset()], ": \t\r\n")
	return value{text: string(raw), kind: other}, nil
}

// jsonError keeps the reader's own words to itself: they may quote the body at length.
func jsonError(err error) error {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return malformed("a name stands twice in the JSON object")
	}
	return errJSON
}
