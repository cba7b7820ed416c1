package service

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/notice"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
)

// NewNotifier creates what notifies the receivers of a configuration; without a database it only tests them. A receiver
// whose files cannot be read takes no message, with the reason, and keeps the service from nothing else.
func NewNotifier(cfg config.Notices) *notice.Notifier {
	n := &notice.Notifier{Name: cfg.Name, Link: cfg.URL, Digest: cfg.Digest, ApprovalsAfter: cfg.ApprovalsAfter,
		WithdrawalsAfter: cfg.WithdrawalsAfter, Daily: cfg.Daily}
	for _, r := range cfg.Receivers {
		transport, err := transportOf(r)
		if err != nil {
			transport = unusable{fmt.Errorf("notices.receivers.%s: %w", r.Name, err)}
		}
		one := notice.Receiver{Name: r.Name, Transport: transport, Alarms: r.Alarms, Location: cfg.Location}
		for _, kind := range r.Kinds {
			one.Kinds = append(one.Kinds, notice.Kind(kind))
		}
		if r.QuietFrom != r.QuietUntil {
			one.Quiet = &notice.Quiet{From: r.QuietFrom, To: r.QuietUntil}
		}
		n.Receivers = append(n.Receivers, one)
	}
	return n
}

// unusable is how a receiver is reached whose settings name files that cannot be read.
type unusable struct{ err error }

// Send implements notice.Transport.
func (u unusable) Send(context.Context, notice.Message) error { return u.err }

// Check implements notice.Transport.
func (u unusable) Check(context.Context) (string, error) { return "", u.err }

// transportOf returns how a receiver is reached. A password is read for each message, so that it may be changed.
func transportOf(r config.NoticeReceiver) (notice.Transport, error) {
	security, err := authorityOf(r.CA)
	if err != nil {
		return nil, err
	}
	if len(r.Email) == 0 {
		var token func() (string, error)
		if r.TokenFile != "" || r.Token.Reveal() != "" {
			token = secretOf(r.Token, r.TokenFile)
			if _, err := token(); err != nil {
				return nil, err
			}
		}
		return notice.NewHook(r.Webhook.Reveal(), notice.Format(r.Format), token, security), nil
	}
	m := &notice.Mail{Server: r.SMTP, Encryption: notice.Encryption(r.TLS), TLS: security, From: r.From, To: r.Email,
		User: r.User, Password: secretOf(r.Password, r.PasswordFile)}
	if r.User != "" {
		_, err = m.Password()
	}
	return m, err
}

// authorityOf trusts the authority of a file, and no other; no file: those of the system.
func authorityOf(file string) (*tls.Config, error) {
	security := &tls.Config{MinVersion: tls.VersionTLS12}
	if file == "" {
		return security, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	security.RootCAs = x509.NewCertPool()
	if !security.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM", file)
	}
	return security, nil
}

// secretOf returns what reads a secret: the variable's, or the first line of a file.
func secretOf(secret config.Secret, file string) func() (string, error) {
	return func() (string, error) {
		if file == "" {
			return secret.Reveal(), nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		first, _, _ := bytes.Cut(text, []byte("\n"))
		if first = bytes.TrimSpace(first); len(first) == 0 {
			return "", fmt.Errorf("the first line of %s is empty", file)
		}
		return string(first), nil
	}
}

// noticeSecrets are the files with secrets of receivers.
func noticeSecrets(cfg config.Notices) (files []string) {
	for _, r := range cfg.Receivers {
		for _, file := range []string{r.PasswordFile, r.TokenFile} {
			if file != "" {
				files = append(files, file)
			}
		}
	}
	return files
}

// addNotifier prepares the notifier for this service's database.
func (s *Service) addNotifier() {
	s.Notifier = &notice.Notifier{}
	if s.parts.Notifier != nil {
		*s.Notifier = *s.parts.Notifier
	}
	s.Notifier.DB, s.Notifier.IDs, s.Notifier.Log = s.DB, s.IDs, s.log
	s.Notifier.Solvency, s.Notifier.Spread = s.statement, s.parts.TestHooks.Spread
}

// statement is the solvency verdict as a notice says it. Currencies that nobody has ever had are left out.
func (s *Service) statement(ctx context.Context, tx *store.Tx) (notice.Statement, error) {
	v, err := reconcile.Evaluate(ctx, tx, s.Registry)
	said := notice.Statement{Solvent: v.OK()}
	for _, p := range v.Lines {
		if !p.Owed.IsZero() || !p.Custody.IsZero() {
			said.Balances = append(said.Balances, notice.Balance{Owed: p.Currency.Text(p.Owed),
				Held: p.Currency.Text(p.Custody), Verdict: verdictOf(v, p.Currency.Code)})
		}
	}
	return said, err
}

// verdictOf says what is wrong with a currency, by the kinds of the alarms.
func verdictOf(v reconcile.Verdict, code bursar.CurrencyCode) string {
	said := "covered"
	for _, p := range v.Problems {
		if p.Currency == code {
			said = "see the alarm " + p.Kind
		}
	}
	return said
}

var (
	noticesSent    = newCounter("notices_sent", "Messages of notices that a receiver took.", "receiver")
	noticesFailing = newGauge("notices_failing_seconds", "How long a receiver has taken no message, 0 if it does.",
		"receiver")
)

// notices exports whether receivers take messages. It names them as the configuration does.
func (m metrics) notices(ctx context.Context, tx *store.Tx, out chan<- prometheus.Metric) error {
	for _, r := range m.service.Notifier.Receivers {
		row, err := tx.Notices().Get(ctx, r.Name)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		failing := 0.0
		if !row.FailingSince.IsZero() {
			failing = max(0, tx.Now().Sub(row.FailingSince).Seconds())
		}
		noticesSent.set(out, float64(row.Sent), r.Name)
		noticesFailing.set(out, failing, r.Name)
	}
	return nil
}
