package tidy_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain runs the tests in the folder of the repository, so that they name files as a reader does.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
