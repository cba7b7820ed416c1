package api

import (
	"maps"
	"mime"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bursar/bursar"
)

// kind is the form in which a parameter was written.
type kind int

const (
	text   kind = iota
	number      // of JSON, kept as its literal text
	other       // null, true, false, an array or an object of JSON
)

// value is one parameter. For the kind other, text is the JSON.
type value struct {
	text string
	kind kind
}

// params are a request's parameters from its query and its body, by their case-sensitive names.
type params map[string]value

// parse reads the parameters of a query and a body and merges them. contentType is the body's; it is ignored for an
// empty body. Errors: invalid_request for a request that has two possible meanings or none, unsupported_media_type.
func parse(query string, contentType []string, body []byte) (params, error) {
	p := params{}
	if err := p.addForm("query", query); err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return p, nil
	}
	media, options, err := mediaType(contentType, body)
	if err != nil {
		return nil, err
	}
	switch media {
	case "application/json":
		err = p.addJSON(body)
	case "application/x-www-form-urlencoded":
		err = p.addForm("body", string(body))
	case "multipart/form-data":
		err = p.addMultipart(body, options["boundary"])
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

var errMediaType = bursar.Refuse(bursar.CodeUnsupportedMediaType,
	"the Content-Type of a body must be application/json, application/x-www-form-urlencoded or multipart/form-data, in "+
		"UTF-8")

// mediaType returns one of the three types that bodies may have. A body without a Content-Type is read as JSON where it
// starts like an object: several clients send it so, and it can be nothing else.
func mediaType(contentType []string, body []byte) (string, map[string]string, error) {
	if len(contentType) == 0 && strings.HasPrefix(strings.TrimLeft(string(body), " \t\r\n"), "{") {
		return "application/json", nil, nil
	}
	if len(contentType) != 1 {
		return "", nil, errMediaType
	}
	media, options, err := mime.ParseMediaType(contentType[0])
	if err != nil {
		return "", nil, errMediaType
	}
	charset, named := options["charset"]
	if named && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
		return "", nil, errMediaType
	}
	switch media {
	case "application/json", "application/x-www-form-urlencoded", "multipart/form-data":
		return media, options, nil
	}
	return "", nil, errMediaType
}

// put adds a parameter. A parameter that is present already must be the same; a JSON number and its text elsewhere are.
func (p params) put(name string, v value) error {
	if !utf8.ValidString(name) || !utf8.ValidString(v.text) {
		return malformed("the parameters are not valid UTF-8")
	}
	old, twice := p[name]
	if twice && (old.text != v.text || (old.kind == other) != (v.kind == other)) {
		return bursar.RefuseField(bursar.CodeInvalidRequest, brief(name), "this parameter has two different values")
	}
	v.kind = max(v.kind, old.kind)
	p[name] = v
	return nil
}

// brief shortens a client's own text that is sent back as a field's name.
func brief(name string) string {
	const most = 64
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "")
}

func malformed(format string, args ...any) error {
	return bursar.Refuse(bursar.CodeInvalidRequest, format, args...)
}

// addForm reads the encoding of queries and of form bodies; where names which one in the message.
func (p params) addForm(where, encoded string) error {
	values, err := url.ParseQuery(encoded)
	if err != nil {
		return malformed("the %s is not properly encoded", where)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, v := range values[name] {
			if err := p.put(name, value{text: v}); err != nil {
				return err
			}
		}
	}
	return nil
}

// addMultipart reads a form of parts, which must be plain fields.
func (p params) addMultipart(body []byte, boundary string) error {
	if boundary == "" {
		return malformed("the multipart body has no boundary")
	}
	reader := multipart.NewReader(strings.NewReader(string(body)), boundary)
	for {
		part, err := reader.NextRawPart() // NextPart would decode quoted-printable
		if isEnd(err) {
			return nil
		}
		if err != nil {
			return errMultipart
		}
		if err := p.addPart(part); err != nil {
			return err
		}
	}
}
