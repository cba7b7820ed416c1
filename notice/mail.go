package notice

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/wneessen/go-mail"
)

// Encryption is how the connection to an SMTP server is encrypted.
type Encryption string

// The encryptions.
const (
	StartTLS Encryption = "starttls" // started in clear, encrypted before anything is said (RFC 3207), or not used
	TLS      Encryption = "tls"      // from the beginning (RFC 8314)
	Clear    Encryption = "none"     // to a server on this machine only
)

// Mail sends messages by SMTP, as plain text. It is safe for concurrent use.
type Mail struct {
	Server     string // host:port
	Encryption Encryption
	TLS        *tls.Config // nil: the system's authorities
	From       string
	To         []string
	User       string                 // empty: the server asks for no password
	Password   func() (string, error) // read for each message, so that it may be changed
}

// errClear is returned instead of sending in clear to another machine.
var errClear = errors.New("without encryption a message goes to a loopback address only")

// Send implements Transport. The Message-ID is the same for the same message.
func (t *Mail) Send(ctx context.Context, m Message) error {
	text, err := t.message(m)
	if err != nil {
		return err
	}
	client, err := t.client()
	if err != nil {
		return err
	}
	err = leave(ctx, func() error { return client.DialAndSendWithContext(ctx, text) })
	if err == nil || ctx.Err() != nil {
		return err
	}
	return t.clean(err)
}

// Check implements Transport: it connects, encrypts and signs in.
func (t *Mail) Check(ctx context.Context) (string, error) {
	client, err := t.client()
	if err != nil {
		return "", err
	}
	if err := leave(ctx, func() error { return client.DialWithContext(ctx) }); err != nil {
		return "", t.clean(err)
	}
	how := "answers"
	if t.User != "" {
		how = "accepts the password of " + t.User
	}
	return t.Server + " " + how, client.Close()
}

func (t *Mail) message(m Message) (*mail.Msg, error) {
	text := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := errors.Join(text.From(t.From), text.To(t.To...)); err != nil {
		return nil, errors.New("an address of the message is not valid")
	}
	_, domain, _ := strings.Cut(t.From, "@")
	text.SetMessageIDWithValue(m.ID + "@" + strings.TrimSuffix(domain, ">"))
	text.SetDateWithValue(m.At)
	text.Subject(m.Subject)
	// No automatic reply is wanted, by people who are away or by lists (RFC 3834).
	text.SetGenHeader("Auto-Submitted", "auto-generated")
	text.SetBodyString(mail.TypeTextPlain, m.Text)
	return text, nil
}

func (t *Mail) client() (*mail.Client, error) {
	host, number, err := net.SplitHostPort(t.Server)
	port, bad := strconv.Atoi(number)
	if err != nil || bad != nil {
		return nil, fmt.Errorf("mail server %q is not host:port", t.Server)
	}
	security := t.TLS.Clone()
	if security == nil {
		security = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	security.ServerName = host
	options := []mail.Option{mail.WithPort(port), mail.WithTimeout(sendWithin), mail.WithTLSConfig(security),
		mail.WithTLSPolicy(mail.TLSMandatory), mail.WithoutNoop()}
	switch t.Encryption {
	case TLS:
		options = append(options, mail.WithSSL())
	case Clear:
		near := loopback(&net.Dialer{Timeout: connectTime})
		options = append(options, mail.WithTLSPolicy(mail.NoTLS), mail.WithDialContextFunc(near))
	}
	if t.User != "" {
		password, err := t.Password()
		if err != nil {
			return nil, err
		}
		method := mail.SMTPAuthAutoDiscover
		if t.Encryption == Clear { // to this machine
			method = mail.SMTPAuthPlainNoEnc
		}
		options = append(options, mail.WithSMTPAuth(method), mail.WithUsername(t.User), mail.WithPassword(password))
	}
	return mail.NewClient(host, options...)
}

// loopback connects to this machine and to no other, whatever a name resolves to.
func loopback(dialer *net.Dialer) mail.DialContextFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if at, is := conn.RemoteAddr().(*net.TCPAddr); !is || !at.IP.IsLoopback() {
			return nil, errors.Join(errClear, conn.Close())
		}
		return conn, nil
	}
}

// clean returns an error without the password, which a server might repeat.
func (t *Mail) clean(err error) error {
	text := err.Error()
	if t.User != "" {
		if password, bad := t.Password(); bad == nil && password != "" {
			text = strings.ReplaceAll(text, password, "[secret]")
		}
	}
	return errors.New(line("%s", text))
}
