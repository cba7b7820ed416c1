package main

import (
	"reflect"
	"strings"
	"sync"
)

// commandFields are the fields of commands by the name of their command.
var commandFields = sync.OnceValue(func() map[string]string {
	fields := map[string]string{}
	for f := range reflect.TypeFor[commands]().Fields() {
		if _, is := f.Tag.Lookup("cmd"); !is {
			continue
		}
		name := f.Tag.Get("name")
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		fields[name] = f.Name
	}
	return fields
})

// commandOf returns the command that words begin with, behind --config; empty where that is not certain.
func commandOf(words []string) string {
	words = behindConfig(words)
	switch {
	case len(words) == 1 && (words[0] == "--version" || words[0] == "-V"):
		return "version"
	case len(words) > 0 && commandFields()[words[0]] != "":
		return words[0]
	}
	return ""
}

// besides returns expressions for the fields of commands that command lines of one command need no parser of: making a
// parser of all takes longer than most commands run. There are none where every command is needed.
func besides(command string) []string {
	if command == "" {
		return nil
	}
	var others []string
	for name, field := range commandFields() {
		if name != command {
			others = append(others, field)
		}
	}
	return []string{`^commands\.(?:` + strings.Join(others, "|") + `)$`}
}
