package api

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"unicode"

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
	if len(r.Header.Values("Content-Encoding")) > 0 {
		return nil, bursar.Refuse(bursar.CodeUnsupportedMediaType, "a body must not be compressed")
	}
	if r.ContentLength > maxBody { // a client that waits for 100 Continue gets the refusal instead
		return nil, errTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, errTooLarge
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
	errPart      = malformed("a part of the multipart body is not a plain text field with a name")
	errTooLarge  = bursar.Refuse(bursar.CodeBodyTooLarge, "a body may have at most %d bytes", maxBody)
)

// isEnd reports whether the last boundary was read. A body that ends without it gives an error that wraps io.EOF.
func isEnd(err error) bool { return err == io.EOF } //nolint:errorlint // what wraps io.EOF is no end

// addPart reads one field of a multipart form (RFC 7578). It refuses encodings that some parsers decode and others do
// not.
func (p params) addPart(part *multipart.Part) error {
	disposition, options, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	_, file := options["filename"]
	if err != nil || disposition != "form-data" || options["name"] == "" || file || !plainTransfer(part.Header) {
		return errPart
	}
	content, err := io.ReadAll(part) // never longer than the body
	if err != nil {
		return errMultipart
	}
	if !plainText(part.Header["Content-Type"], content) {
		return errPart
	}
	return p.put(options["name"], value{text: string(content)})
}

// plainTransfer reports whether a part's bytes are its content. RFC 7578 deprecates the transfer encodings of mail.
func plainTransfer(header textproto.MIMEHeader) bool {
	encoding := strings.ToLower(strings.Join(header["Content-Transfer-Encoding"], ", "))
	return encoding == "" || encoding == "7bit" || encoding == "8bit" || encoding == "binary"
}

// plainText reports whether a part declares no type, or text in UTF-8. Some clients always declare ISO-8859-1, which is
// the same for ASCII.
func plainText(contentType []string, content []byte) bool {
	if len(contentType) == 0 {
		return true
	}
	media, options, err := mime.ParseMediaType(strings.Join(contentType, ", "))
	if err != nil || media != "text/plain" {
		return false
	}
	switch strings.ToLower(options["charset"]) {
	case "", "utf-8", "us-ascii":
		return true
	case "iso-8859-1":
		return !bytes.ContainsFunc(content, func(r rune) bool { return r > unicode.MaxASCII })
	}
	return false
}

// addJSON reads one object. The decoder refuses duplicate names at any depth, invalid UTF-8, and everything that is not
// JSON by RFC 8259; numbers keep the text in which they were written.
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

// jsonError hides the decoder's own message, which may quote the body at length.
func jsonError(err error) error {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return malformed("a name stands twice in the JSON object")
	}
	return errJSON
}
