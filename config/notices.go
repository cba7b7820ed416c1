package config

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Notices configures who is notified of what needs an operator.
type Notices struct {
	Name             string         // of this service, in subjects
	URL              string         // scheme and host under which the documentation is opened; empty: links are paths
	Location         *time.Location // of Daily and of quiet hours
	Daily            int            // minute of the day of the line of solvency; -1: none
	Digest           time.Duration  // within which notices become one message
	ApprovalsAfter   time.Duration  // 0: never
	WithdrawalsAfter time.Duration
	Receivers        []NoticeReceiver
}

// NoticeReceiver is one who is notified, by mail or by a webhook.
type NoticeReceiver struct {
	Name string

	Email        []string // by mail: the addresses
	From         string
	SMTP         string // host:port
	TLS          string // NoticeStartTLS, NoticeTLS or NoticeClear
	User         string
	Password     Secret // from the environment
	PasswordFile string // whose first line is the password

	Webhook   Secret // by webhook: the URL
	Format    string // of NoticeFormats
	Token     Secret // of Matrix, from the environment
	TokenFile string

	CA         string   // PEM file with the authority of the server's certificate; empty: the system's
	Kinds      []string // alarms, approvals, withdrawals, solvency
	Alarms     []string // kinds of alarm, where kinds names some; nil: all
	QuietFrom  int      // minutes of the day; the same: no quiet hours
	QuietUntil int
}

// The encryptions of mail.
const (
	NoticeStartTLS = "starttls"
	NoticeTLS      = "tls"
	NoticeClear    = "none"
)

// noticeAlarms is the kind of all alarms.
const noticeAlarms = "alarms"

// noticeKinds is what may be notified of, besides single kinds of alarm; formats those of webhooks.
var (
	noticeKinds   = []string{noticeAlarms, "approvals", "withdrawals", "solvency"}
	noticeFormats = []string{"json", "slack", "discord", "teams", "telegram", matrixFormat}
)

// NoticeFormats returns the formats of webhooks.
func NoticeFormats() []string { return slices.Clone(noticeFormats) }

const (
	noticesKey   = "notices"
	receiversKey = "receivers"
	matrixFormat = "matrix"
	mostNoticed  = 20 // receivers, and addresses of one
)

var noticesSettings = []setting[Notices]{
	{"name", func(r *reader, n *node, to *Notices) { keep(&to.Name)(r.shortLine(n)) }},
	{"url", func(r *reader, n *node, to *Notices) { keep(&to.URL)(r.origin(n)) }},
	{"timezone", func(r *reader, n *node, to *Notices) {
		text, ok := r.text(n)
		at, err := time.LoadLocation(text)
		if ok && (err != nil || text == "Local") {
			r.fail(n, "%.40q is not a time zone, such as UTC or Europe/Berlin", text)
			return
		}
		keep(&to.Location)(at, ok)
	}},
	{"daily", func(r *reader, n *node, to *Notices) {
		if n.shape == isText && n.text == "off" {
			to.Daily = -1
			return
		}
		text, ok := r.text(n)
		if minute, is := minuteOf(text); ok && !is {
			r.fail(n, `%.20q is not a time of day, such as "08:00", or off`, text)
		} else {
			keep(&to.Daily)(minute, ok)
		}
	}},
	{"digest", func(r *reader, n *node, to *Notices) {
		keep(&to.Digest)(r.period(n, 10*time.Second, time.Hour))
	}},
	{"approvals_after", func(r *reader, n *node, to *Notices) {
		keep(&to.ApprovalsAfter)(r.duration(n, time.Minute, 30*24*time.Hour))
	}},
	{"withdrawals_after", func(r *reader, n *node, to *Notices) {
		keep(&to.WithdrawalsAfter)(r.duration(n, time.Minute, 30*24*time.Hour))
	}},
}

var receiverSettings = []setting[NoticeReceiver]{
	{"email", func(r *reader, n *node, to *NoticeReceiver) {
		for _, item := range r.list(n) {
			if address, ok := r.mailbox(item); ok {
				to.Email = append(to.Email, address)
			}
		}
		if len(to.Email) > mostNoticed {
			r.fail(n, "at most %d addresses are allowed", mostNoticed)
		}
	}},
	{"from", func(r *reader, n *node, to *NoticeReceiver) { keep(&to.From)(r.mailbox(n)) }},
	{"smtp", func(r *reader, n *node, to *NoticeReceiver) {
		text, ok := r.text(n)
		host, port, err := net.SplitHostPort(text)
		number, bad := strconv.ParseUint(port, 10, 16)
		if ok && (err != nil || bad != nil || host == "" || number == 0) {
			r.fail(n, "%.60q is not host:port, such as smtp.shop.example:587", text)
			return
		}
		keep(&to.SMTP)(text, ok)
	}},
	{"tls", func(r *reader, n *node, to *NoticeReceiver) {
		keep(&to.TLS)(r.oneOf(n, NoticeStartTLS, NoticeTLS, NoticeClear))
	}},
	{"user", func(r *reader, n *node, to *NoticeReceiver) { keep(&to.User)(r.shortLine(n)) }},
	{"password", func(r *reader, n *node, to *NoticeReceiver) { r.fromVariable(n, &to.Password, "password_file") }},
	{"password_file", func(r *reader, n *node, to *NoticeReceiver) { r.file(n, &to.PasswordFile) }},
	{"webhook", func(r *reader, n *node, to *NoticeReceiver) { keep(&to.Webhook)(r.nodeURL(n)) }},
	{"format", func(r *reader, n *node, to *NoticeReceiver) { keep(&to.Format)(r.oneOf(n, noticeFormats...)) }},
	{"token", func(r *reader, n *node, to *NoticeReceiver) { r.fromVariable(n, &to.Token, "token_file") }},
	{"token_file", func(r *reader, n *node, to *NoticeReceiver) { r.file(n, &to.TokenFile) }},
	{"ca", func(r *reader, n *node, to *NoticeReceiver) { r.file(n, &to.CA) }},
	{"kinds", func(r *reader, n *node, to *NoticeReceiver) { r.noticeKinds(n, to) }},
	{"quiet", func(r *reader, n *node, to *NoticeReceiver) {
		text, ok := r.text(n)
		begin, end, _ := strings.Cut(text, "-")
		from, isFrom := minuteOf(strings.TrimSpace(begin))
		until, isUntil := minuteOf(strings.TrimSpace(end))
		if ok && (!isFrom || !isUntil || from == until) {
			r.fail(n, `%.40q are not hours of the day, such as "22:00-07:00"`, text)
			return
		}
		to.QuietFrom, to.QuietUntil = from, until
	}},
}

// notices parses who is notified.
func (r *reader) notices(section *node, cfg *Config) {
	cfg.Notices = Notices{Name: "Bursar", Location: time.UTC, Daily: 8 * 60, Digest: time.Minute,
		ApprovalsAfter: 4 * time.Hour, WithdrawalsAfter: 2 * time.Hour}
	if section == nil {
		return
	}
	read(r, section, noticesSettings, &cfg.Notices, receiversKey)
	receivers := r.subsection(section, receiversKey)
	if receivers == nil {
		r.fail(section, "receivers is required: who is notified, such as {ops: {webhook: https://chat.example/hook, "+
			"format: slack}}")
		return
	}
	if len(receivers.named) > mostNoticed {
		r.fail(receivers, "at most %d receivers are allowed", mostNoticed)
	}
	for _, n := range receivers.named {
		if n = r.asSection(n, "{webhook: https://chat.example/hook, format: slack}"); n != nil {
			cfg.Notices.Receivers = append(cfg.Notices.Receivers, r.noticeReceiver(n))
		}
	}
	slices.SortFunc(cfg.Notices.Receivers, func(a, b NoticeReceiver) int { return strings.Compare(a.Name, b.Name) })
}
