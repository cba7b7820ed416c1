package config

import (
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// noticeReceiver parses one receiver.
func (r *reader) noticeReceiver(n *node) NoticeReceiver {
	to := NoticeReceiver{Name: n.key, TLS: NoticeStartTLS, Format: "json", Kinds: noticeKinds}
	before := len(r.mistakes)
	read(r, n, receiverSettings, &to)
	if len(r.mistakes) > before {
		return to
	}
	byMail, byHook := n.field("email") != nil, n.field("webhook") != nil
	if byMail == byHook {
		r.fail(n, "exactly one of email and webhook is required")
		return to
	}
	only := map[bool][]string{true: {"webhook", "format", "token", "token_file"},
		false: {"from", "smtp", "tls", "user", "password", "password_file"}}
	for _, key := range only[byMail] {
		if f := n.field(key); f != nil {
			r.fail(f, "the setting is not used with %s", map[bool]string{true: "email", false: "webhook"}[byMail])
		}
	}
	if byMail {
		r.byMail(n, to)
	} else {
		r.byHook(n, to)
	}
	return to
}

// byMail checks what mail needs. Nothing is sent unencrypted to another machine.
func (r *reader) byMail(n *node, to NoticeReceiver) {
	secret := to.Password.Reveal() != "" || to.PasswordFile != ""
	switch {
	case to.SMTP == "" || to.From == "" || len(to.Email) == 0:
		r.fail(n, "smtp, from and at least one address are required with email")
	case to.Password.Reveal() != "" && to.PasswordFile != "":
		r.fail(n, "password and password_file are both set: leave one out")
	case to.User == "" && secret:
		r.fail(n, "user is required with a password")
	case to.User != "" && !secret:
		r.fail(n, "user needs password_file, or the password in the variable of password")
	case to.TLS == NoticeClear && !isLoopback(to.SMTP):
		r.fail(n.field("tls"), "none is allowed for a server on this machine only: localhost or a loopback address")
	}
}

// byHook checks what a webhook needs.
func (r *reader) byHook(n *node, to NoticeReceiver) {
	u, _ := url.Parse(to.Webhook.Reveal())
	secret := to.Token.Reveal() != "" || to.TokenFile != ""
	switch {
	case u.Scheme != "https" && !isLoopback(net.JoinHostPort(u.Hostname(), "0")):
		r.fail(n.field("webhook"), "the URL must be https, except on this machine: notices say what is owed and held")
	case to.Token.Reveal() != "" && to.TokenFile != "":
		r.fail(n, "token and token_file are both set: leave one out")
	case to.Format == matrixFormat && !secret:
		r.fail(n, "matrix needs token_file, or the token in the variable of token")
	case to.Format != matrixFormat && secret:
		r.fail(n, "a token is used with format: matrix only")
	}
}

// noticeKinds reads a list of kinds: groups, or single kinds of alarm.
func (r *reader) noticeKinds(n *node, to *NoticeReceiver) {
	allowed := append(slices.Clone(noticeKinds), bursar.AlarmKinds()...)
	to.Kinds = nil
	for _, item := range r.list(n) {
		text, ok := r.text(item)
		switch {
		case !ok:
		case !slices.Contains(allowed, text):
			r.fail(item, "unknown kind %.40q%s", text, didYouMean(text, allowed))
		case slices.Contains(noticeKinds, text):
			to.Kinds = append(to.Kinds, text)
		default:
			to.Alarms = append(to.Alarms, text)
		}
	}
	if slices.Contains(to.Kinds, noticeAlarms) {
		to.Alarms = nil
	} else if len(to.Alarms) > 0 {
		to.Kinds = append(to.Kinds, noticeAlarms)
	}
	if len(to.Kinds) == 0 {
		r.fail(n, "at least one kind is required: alarms, approvals, withdrawals, solvency, or kinds of alarm")
	}
}

// fromVariable reads a secret that is never written into the file: the file is copied and shown around.
func (r *reader) fromVariable(n *node, to *Secret, other string) {
	if !n.fromEnvironment {
		r.fail(n, "set it by its environment variable, or name a file in %s", other)
		return
	}
	text, ok := r.text(n)
	keep(to)(NewSecret(text), ok)
}

// mailbox reads an address of mail without a display name.
func (r *reader) mailbox(n *node) (string, bool) {
	text, ok := r.text(n)
	if !ok {
		return "", false
	}
	a, err := mail.ParseAddress(text)
	if err != nil || a.Address != text || len(text) > 254 {
		r.fail(n, "%.60q is not an email address, such as ops@shop.example", text)
		return "", false
	}
	return text, true
}

// shortLine reads a text of at most 60 characters on one line.
func (r *reader) shortLine(n *node) (string, bool) {
	text, ok := r.text(n)
	if ok && (len([]rune(text)) > maxShopName || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' })) {
		r.fail(n, "the name has at most %d characters on one line", maxShopName)
		return "", false
	}
	return text, ok
}

// minuteOf parses a time of day as the minutes since midnight.
func minuteOf(text string) (int, bool) {
	at, err := time.Parse("15:04", text)
	return at.Hour()*60 + at.Minute(), err == nil && len(text) == len("15:04")
}

// isLoopback reports whether host:port is on this machine, by its name alone.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && at.IsLoopback()
}
