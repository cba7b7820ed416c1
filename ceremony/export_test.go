package ceremony

import "strings"

// Resealed replaces a part of a bundle and makes the checksum fit.
func Resealed(text, old, with string) string {
	body, _, _ := strings.Cut(strings.Replace(text, old, with, 1), "checksum: ")
	return body + "checksum: " + checksum(body) + "\n"
}
