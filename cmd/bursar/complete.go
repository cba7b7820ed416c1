package main

import (
	"embed"
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/registry"
)

//go:embed completion
var completions embed.FS

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help says where the script goes.
func (completionCommand) Help() string {
	return "The packages install all of them. Otherwise, for this user:\n\nExample:\n\n" +
		"    bursar completion bash > ~/.local/share/bash-completion/completions/bursar\n" +
		"    bursar completion zsh > ~/.zfunc/_bursar     # with fpath+=~/.zfunc before compinit\n" +
		"    bursar completion fish > ~/.config/fish/completions/bursar.fish"
}

// Run prints the shell's script.
func (cmd *completionCommand) Run(c *call) error {
	text, err := completions.ReadFile("completion/bursar." + cmd.Shell)
	if err != nil {
		return err
	}
	_, err = c.Stdout.Write(text)
	return err
}

type completeCommand struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"What was typed after bursar; the last word is being typed."`
}

// Help returns an example.
func (completeCommand) Help() string {
	return "The scripts of `bursar completion` run it. It reads neither the configuration nor the database.\n\n" +
		"Example:\n\n    bursar complete -- withdrawal a"
}

// Run prints what the last word can become, with a tab and an explanation.
func (cmd *completeCommand) Run(c *call) error {
	words := cmd.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	words = spelled(words)
	var line commands
	parser, err := newParser(&call{Call: c.Call}, &line, func(int) {}, words[:max(0, len(words)-1)]...)
	if err != nil {
		return err
	}
	for _, found := range complete(parser.Model.Node, words) {
		if err := c.Say("%s\t%s", found.word, found.about); err != nil {
			return err
		}
	}
	return nil
}

// candidate is what a word can become.
type candidate struct{ word, about string }

// complete returns what the last word can become after the others; nothing where only the user knows.
func complete(root *kong.Node, words []string) []candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	at := typed{node: root}
	for _, w := range words[:len(words)-1] {
		at.take(w)
	}
	last := words[len(words)-1]
	var found []candidate
	for _, c := range at.candidates(last) {
		if strings.HasPrefix(c.word, last) {
			found = append(found, c)
		}
	}
	return found
}

// typed is where a command line is after some words.
type typed struct {
	node  *kong.Node
	flag  *kong.Flag // whose value comes next; nil: none
	words int        // that were arguments of the node
}

// take reads a word that is complete.
func (t *typed) take(word string) {
	switch {
	case t.flag != nil:
		t.flag = nil
	case strings.HasPrefix(word, "-"):
		name, _, whole := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if f := flagOf(t.node, name); f != nil && !f.IsBool() && !whole {
			t.flag = f
		}
	default:
		for _, child := range t.node.Children {
			if child.Name == word {
				t.node, t.words = child, 0
				return
			}
		}
		t.words++
	}
}

func flagOf(n *kong.Node, name string) *kong.Flag {
	for _, group := range n.AllFlags(false) {
		for _, f := range group {
			if f.Name == name {
				return f
			}
		}
	}
	return nil
}

// candidates returns what may come next.
func (t *typed) candidates(last string) (list []candidate) {
	if t.flag != nil {
		return valuesOf(t.flag.Value)
	}
	if strings.HasPrefix(last, "-") {
		for _, group := range t.node.AllFlags(true) {
			for _, f := range group {
				list = append(list, candidate{"--" + f.Name, f.Help})
			}
		}
		return list
	}
	for _, child := range t.node.Children {
		if !child.Hidden {
			list = append(list, candidate{child.Name, child.Help})
		}
	}
	if t.words < len(t.node.Positional) {
		list = append(list, valuesOf(t.node.Positional[t.words])...)
	}
	return list
}

// valuesOf returns the values that are known: words that are allowed, chains and currencies.
func valuesOf(v *kong.Value) (list []candidate) {
	add := func(word any) { list = append(list, candidate{word: fmt.Sprint(word)}) }
	switch v.Target.Type() {
	case reflect.TypeFor[bursar.ChainID]():
		for _, id := range registry.IDs() {
			add(id)
		}
	case reflect.TypeFor[bursar.CurrencyCode]():
		for _, c := range bursar.Standard() {
			add(c.Code)
		}
	}
	for _, word := range v.EnumSlice() {
		if word != "" {
			add(word)
		}
	}
	return list
}
