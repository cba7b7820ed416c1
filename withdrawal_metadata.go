package bursar

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of what a client stores with a withdrawal.
const (
	MaxReference     = 255 // bytes
	MaxMetadataNames = 50
	MaxMetadataName  = 40 // bytes
)

// MetadataText returns the metadata of a withdrawal as it is stored: a JSON object of texts whose names are sorted, ""
// for none. It refuses more than MaxMetadataNames, a name that is empty or longer than MaxMetadataName, and more than
// MaxMetadata bytes in all.
func MetadataText(metadata map[string]string) (string, error) {
	if len(metadata) == 0 {
		return "", nil
	}
	refuse := func(format string, args ...any) (string, error) {
		return "", RefuseField(CodeInvalidRequest, "metadata", format, args...)
	}
	if len(metadata) > MaxMetadataNames {
		return refuse("metadata may have at most %d names, this has %d", MaxMetadataNames, len(metadata))
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		if name == "" || len(name) > MaxMetadataName {
			return refuse("a name of metadata has 1 to %d bytes", MaxMetadataName)
		}
		if !Storable(name, MaxMetadataName) || !Storable(metadata[name], MaxMetadata) {
			return refuse("metadata must be valid UTF-8 without zero bytes, with at most %d bytes in all", MaxMetadata)
		}
	}
	if err := encoder.Encode(metadata); err != nil {
		return "", err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if len(text) > MaxMetadata {
		return refuse("metadata may have at most %d bytes, this has %d", MaxMetadata, len(text))
	}
	return text, nil
}

// Storable reports whether both databases keep a text as it is, and it has at most so many bytes.
func Storable(text string, most int) bool {
	return len(text) <= most && utf8.ValidString(text) && !strings.Contains(text, "\x00")
}
