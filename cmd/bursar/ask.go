package main

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// maxAnswer bounds a line of standard input that answers a question.
const maxAnswer = 4096

// asker asks questions on standard error and reads the answers from standard input, one line each.
type asker struct {
	call   *call
	lines  *bufio.Reader
	silent bool // every question is answered by its default
}

func (c *call) asker(silent bool) *asker {
	return &asker{call: c, lines: bufio.NewReader(io.LimitReader(c.Stdin, 64*maxAnswer)), silent: silent}
}

// ask returns the answer to a question, or its default for an empty one and where nobody answers any more.
func (a *asker) ask(question, preset string) (string, error) {
	if a.silent {
		return preset, nil
	}
	text := question
	if preset != "" {
		text += " [" + preset + "]"
	}
	if _, err := io.WriteString(a.call.Stderr, text+": "); err != nil {
		return "", err
	}
	line, err := a.lines.ReadString('\n')
	if errors.Is(err, io.EOF) {
		a.call.Note("")
		err = nil
	}
	if err != nil {
		return "", err
	}
	if len(line) > maxAnswer {
		return "", wrong("an answer has more than %d bytes", maxAnswer)
	}
	if line = strings.TrimSpace(line); line == "" {
		return preset, nil
	}
	return line, nil
}

// askFor asks for an answer that fault finds nothing wrong with. At a terminal it asks again; elsewhere that is an
// error, because the next line answers another question.
func (a *asker) askFor(question, preset string, fault func(answer string) string) (string, error) {
	for {
		answer, err := a.ask(question, preset)
		if err != nil {
			return "", err
		}
		said := fault(answer)
		if said == "" {
			return answer, nil
		}
		if a.silent || !a.call.AtTerminal() {
			return "", wrong("%s: %s", question, said)
		}
		a.call.Note("%s", said)
	}
}
