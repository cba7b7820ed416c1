package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
)

// journal returns the file in which this person's approvals are kept. The service may forget them; this does not.
func (s *session) journal() (string, error) {
	if s.Journal != "" {
		return s.Journal, nil
	}
	home := s.getenv("HOME")
	if home == "" {
		return "", fmt.Errorf("there is no home directory to keep what you signed: give --journal; %w", errUsage)
	}
	return filepath.Join(home, "bursar-approve.log"), nil
}

// signedBefore returns what this person signed about an order.
func (s *session) signedBefore(order bursar.ID) (lines []string, err error) {
	path, err := s.journal()
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what you signed: %w", err)
	}
	defer file.Close()
	for scan := bufio.NewScanner(file); scan.Scan(); {
		if strings.Contains(scan.Text(), order.String()) {
			lines = append(lines, scan.Text())
		}
	}
	return lines, nil
}

// note keeps what is about to be signed, before it is.
func (s *session) note(a approval.Approval, amount string) error {
	path, err := s.journal()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep what you sign: %w", err)
	}
	_, err = fmt.Fprintf(file, "%s %s order %s: %s on %s to %s\n", approval.Moment(a.Created), a.Decision, a.Order.ID,
		amount, a.Order.Chain, a.Order.To)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("keep what you sign: %w", err)
	}
	return nil
}
