package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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

// signedBefore returns what this person signed about an order, and about the same payment under another order's ID.
func (s *session) signedBefore(order approval.Order) (lines []string, err error) {
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
	scan := bufio.NewScanner(file)
	for scan.Scan() {
		if strings.Contains(scan.Text(), order.ID.String()) || strings.HasSuffix(scan.Text(), paymentText(order)) {
			lines = append(lines, scan.Text())
		}
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("read what you signed: %w", err)
	}
	return lines, nil
}

// paymentText is what an order pays. The end of a line of the journal is known by it.
func paymentText(o approval.Order) string {
	return fmt.Sprintf(" on %s to %s, %s units of %s", o.Chain, o.To, o.Units, approval.AssetText(o.Contract))
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
	_, err = fmt.Fprintf(file, "%s %s order %s payment %d: %s%s\n", approval.Moment(a.Created), a.Decision, a.Order.ID,
		a.Payment, amount, paymentText(a.Order))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("keep what you sign: %w", err)
	}
	return nil
}
