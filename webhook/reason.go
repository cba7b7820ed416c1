package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/bursar/bursar"
)

// maxReason is the maximum length of a stored reason in bytes.
const maxReason = 200

// explain returns why a request failed, as an outcome and as a text of this package. An error's own text is never
// stored: it repeats the URL, which may contain a token, or addresses of the operator's network.
func explain(err error) (Outcome, string) {
	var refusal *bursar.Error
	if errors.As(err, &refusal) {
		return OutcomeRefused, strings.ToValidUTF8(refusal.Message[:min(len(refusal.Message), maxReason)], "")
	}
	for _, known := range []error{errNotPublic, errPort} {
		if errors.Is(err, known) {
			return OutcomeRefused, known.Error()
		}
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		if dns.IsNotFound {
			return OutcomeDNS, "the host name does not exist"
		}
		return OutcomeDNS, "the host name could not be resolved"
	}
	var wrong *tls.CertificateVerificationError
	if errors.As(err, &wrong) {
		return OutcomeTLS, certificateReason(wrong.Err)
	}
	return explainConnection(err)
}

func certificateReason(err error) string {
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &host):
		return "the certificate is not for this host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired or is not yet valid"
	}
	return "the certificate is not trusted"
}

func explainConnection(err error) (Outcome, string) {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		return OutcomeTimeout, "no answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return OutcomeConnection, "the connection was refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return OutcomeConnection, "the host is not reachable"
	case errors.As(err, &record), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		return OutcomeTLS, "TLS could not be agreed"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		return OutcomeConnection, "the connection was closed before an answer"
	}
	return OutcomeInvalid, "there was no valid answer"
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// statusReason returns why a response is a failure. No text of the receiver is stored.
func statusReason(code int) string {
	text := http.StatusText(code)
	switch {
	case code >= 300 && code <= 399:
		return fmt.Sprintf("answered %d: redirects are not followed", code)
	case text == "":
		return fmt.Sprintf("answered %d", code)
	}
	return fmt.Sprintf("answered %d %s", code, text)
}
