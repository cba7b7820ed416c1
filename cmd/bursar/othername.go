package main

import (
	"slices"
	"strings"
)

// otherNames are further names of commands, by what they stand for. They are promised, and the help of a command and
// what is completed use its own name.
var otherNames = map[string][]string{
	"export": {"ledger", "export"},
	"policy": {"signer", "policy"},
}

// spelled returns a command line with its command's own name in the place of another one.
func spelled(words []string) []string {
	rest := behindConfig(words)
	if len(rest) == 0 {
		return words
	}
	own, is := otherNames[rest[0]]
	if !is {
		return words
	}
	return slices.Concat(words[:len(words)-len(rest)], own, rest[1:])
}

// behindConfig returns the words of a command line behind --config, which may come first.
func behindConfig(words []string) []string {
	for len(words) > 0 {
		switch word := words[0]; {
		case word == "--config" && len(words) > 1 && !strings.HasPrefix(words[1], "-"):
			words = words[2:]
		case strings.HasPrefix(word, "--config="):
			words = words[1:]
		default:
			return words
		}
	}
	return words
}
