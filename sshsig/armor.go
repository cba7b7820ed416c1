package sshsig

import (
	"encoding/base64"
	"fmt"
	"strings"
)

const (
	header = "-----BEGIN SSH SIGNATURE-----"
	footer = "-----END SSH SIGNATURE-----"
	width  = 70 // bytes of a line, as ssh-keygen writes it; PROTOCOL.sshsig allows others
)

// armor writes a signature as ssh-keygen does.
func armor(raw []byte) string {
	var text strings.Builder
	text.WriteString(header + "\n")
	coded := base64.StdEncoding.EncodeToString(raw)
	for len(coded) > width {
		text.WriteString(coded[:width] + "\n")
		coded = coded[width:]
	}
	text.WriteString(coded + "\n" + footer + "\n")
	return text.String()
}

// dearmor reads one armored signature and nothing beside it. Lines may end as mail programs end them.
func dearmor(text string) ([]byte, error) {
	if len(text) > MaxLength {
		return nil, fmt.Errorf("%w: the signature has more than %d bytes", ErrMalformed, MaxLength)
	}
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
	last := len(lines) - 1
	if last < 2 || lines[0] != header || lines[last] != footer {
		return nil, fmt.Errorf("%w: the signature lacks its first or its last line", ErrMalformed)
	}
	coded := strings.Join(lines[1:last], "")
	if strings.ContainsAny(coded, "\r\n") {
		return nil, fmt.Errorf("%w: the signature has a stray line end", ErrMalformed)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(coded)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return raw, nil
}

// Split returns the armored signatures at the end of a text, and the text before them, byte for byte.
func Split(text string) (before string, signatures []string, err error) {
	before, rest, found := strings.Cut(text, header+"\n")
	if !found {
		return text, nil, nil
	}
	for rest = header + "\n" + rest; rest != ""; {
		end := strings.Index(rest, footer+"\n")
		if end < 0 || !strings.HasPrefix(rest, header+"\n") {
			return "", nil, fmt.Errorf("%w: what follows the text is not signatures alone", ErrMalformed)
		}
		end += len(footer) + 1
		signatures, rest = append(signatures, rest[:end]), rest[end:]
	}
	return before, signatures, nil
}
