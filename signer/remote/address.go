package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"
)

// Address is the address of a signer, with the certificates by which both sides authenticate.
type Address struct {
	// URL is unix:/path/of/socket, where the file's permissions decide who may connect, or https://host:port.
	URL string
	// CA, Cert and Key are PEM files for https: the authority that signed the other side's certificate, and this side's
	// own. Both sides must have one.
	CA, Cert, Key string
	// Clients are the names of the certificates that a signer accepts over https: DNS names, addresses or common names.
	Clients []string
	// Users are the names or numbers of the users whose connections a signer accepts over a socket. Empty: all that the
	// file's permissions let through.
	Users []string
	// Refused is called with the reason why a connection was refused; may be nil.
	Refused func(reason string)
}

const unixScheme = "unix:"

// Check returns what is wrong with the address; it reads no file.
func (a Address) Check() error {
	if path, unix := strings.CutPrefix(a.URL, unixScheme); unix {
		if path == "" || a.CA+a.Cert+a.Key != "" {
			return errors.New("a socket is unix:/path and has no certificates")
		}
		return nil
	}
	u, err := url.Parse(a.URL)
	if err != nil || u.Scheme != "https" || u.Port() == "" || u.Path != "" || u.User != nil || u.RawQuery != "" {
		return errors.New("a signer's address is unix:/path or https://host:port")
	}
	if a.CA == "" || a.Cert == "" || a.Key == "" {
		return errors.New("https needs ca, cert and key: both sides authenticate with a certificate")
	}
	return nil
}

func (a Address) host() string {
	u, err := url.Parse(a.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// Listen opens the address for a signer. A socket is created with permissions for its owner and group, and replaces a
// socket that nobody listens on; any other file at its path is left unchanged and is an error.
func (a Address) Listen(ctx context.Context) (net.Listener, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	if path, unix := strings.CutPrefix(a.URL, unixScheme); unix {
		listener, err := listenUnix(ctx, path)
		if err != nil {
			return nil, err
		}
		limited, err := a.onlyUsers(listener)
		if err != nil {
			return nil, errors.Join(err, listener.Close())
		}
		return limited, nil
	}
	if len(a.Clients) == 0 {
		return nil, errNoClients
	}
	config, err := a.tls()
	if err != nil {
		return nil, err
	}
	config.VerifyConnection = a.pinned()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.host())
	if err != nil {
		return nil, fmt.Errorf("listen for the service: %w", err)
	}
	return tls.NewListener(listener, config), nil
}

func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSocket == 0 {
		return nil, fmt.Errorf("%s is not a socket and is left unchanged", path)
	}
	if err == nil {
		if other, err := (&net.Dialer{}).DialContext(ctx, "unix", path); err == nil {
			return nil, errors.Join(fmt.Errorf("another signer listens on %s", path), other.Close())
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove the stale socket: %w", err)
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen for the service: %w", err)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		return nil, errors.Join(fmt.Errorf("set the permissions of the socket: %w", err), listener.Close())
	}
	return listener, nil
}

// dial returns the function that connects to the signer.
func (a Address) dial() (func(ctx context.Context, _, _ string) (net.Conn, error), error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	if path, unix := strings.CutPrefix(a.URL, unixScheme); unix {
		return func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}, nil
	}
	config, err := a.tls()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", a.host())
	}, nil
}

// tls reads the certificates. Each side accepts only certificates of the authority.
func (a Address) tls() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(a.Cert, a.Key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	text, err := os.ReadFile(a.CA)
	if err != nil {
		return nil, fmt.Errorf("read the authority's certificate: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s contains no certificate", a.CA)
	}
	name, _, err := net.SplitHostPort(a.host())
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{pair},
		RootCAs:      pool,
		ServerName:   name,
		ClientCAs:    pool,
		ClientAuth:   tls.RequireAndVerifyClientCert,
	}, nil
}
