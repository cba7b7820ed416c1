package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// approver is the program of approvers. It stays one of its own: what shows a payment to the person who signs must not
// come from the service.
const approver = "bursar-approve"

type approveCommand struct {
	Words []string `arg:"" optional:"" passthrough:"partial" help:"What bursar-approve is asked, such as list or yes, with its flags behind it."`
}

// Help says what runs, and an example.
func (approveCommand) Help() string {
	return "Runs the program bursar-approve, which is beside this one or in PATH, with what follows; `bursar approve " +
		"list --help` prints its help. Approvers need that program alone, on a machine of their own.\n\n" +
		"Example:\n\n    bursar approve yes http://127.0.0.1:8090/approvals"
}

// exited is how a program ended that a command ran, and that said why itself.
type exited int

func (e exited) Error() string { return fmt.Sprintf("it exits with %d", int(e)) }

// Run runs the approver's program and exits as it does.
func (cmd *approveCommand) Run(ctx context.Context, c *call) error {
	path, err := c.approver()
	if err != nil {
		return err
	}
	program := exec.CommandContext(ctx, path, cmd.Words...)
	program.Stdin, program.Stdout, program.Stderr, program.Env = c.Stdin, c.Stdout, c.Stderr, c.Environ
	program.Cancel = func() error { return program.Process.Signal(os.Interrupt) } // it ends by itself
	err = program.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) && ended.ExitCode() > 0 {
		return exited(ended.ExitCode())
	}
	return err
}

// approver returns the path of the approver's program.
func (c *call) approver() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	for _, folder := range append([]string{filepath.Dir(self)}, filepath.SplitList(c.Getenv("PATH"))...) {
		if !filepath.IsAbs(folder) { // also an empty one, which shells take for the working directory
			continue
		}
		if path, err := exec.LookPath(filepath.Join(folder, approver)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program %s beside this one or in PATH: install the package of that name, on the "+
		"approver's machine", approver)
}
