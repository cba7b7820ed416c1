package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/bursar/bursar/cmd/programtest"
)

// program is the built command.
var program string

func TestMain(m *testing.M) {
	built, remove, err := programtest.Build("bursar-approve")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = built
	code := m.Run()
	remove()
	os.Exit(code)
}

// Packages of this module that it may contain: no chain, no API, no database.
var parts = []string{"", "approval", "cmd/bursar-approve", "orderkey", "passkey", "roster", "sshsig"}

// Modules of others that it may contain, by the beginnings of their packages.
var modules = []string{"github.com/alecthomas/kong", "golang.org/x/crypto/", "golang.org/x/sys/cpu"}

// What it contains can be attacked in it. A package that comes in has to be named here.
func TestOnlyWhatAnApproverNeedsIsLinked(t *testing.T) {
	t.Parallel()
	programtest.Linked(t, parts, modules, 10)
}

// maxSize is the most that the program may take, in bytes.
const maxSize = 12 << 20

func TestTheProgramIsStaticAndSmall(t *testing.T) {
	t.Parallel()
	programtest.StaticAndSmall(t, program, maxSize)
}
