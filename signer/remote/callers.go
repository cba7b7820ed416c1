package remote

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os/user"
	"slices"
	"strconv"
)

// errNoClients is why a signer does not listen on a network.
var errNoClients = errors.New("signer.clients is required with https: list the names of the certificates with which " +
	"the service may use the signer; otherwise every certificate of the authority could sign")

// pinned returns what refuses certificates of other names than those of Clients: those that the authority issued for
// something else.
func (a Address) pinned() func(tls.ConnectionState) error {
	return func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 {
			return errors.New("the client has no certificate")
		}
		names := namesOf(state.PeerCertificates[0])
		if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(a.Clients, name) }) {
			return nil
		}
		return fmt.Errorf("the certificate of %.200q is not in signer.clients", names)
	}
}

// namesOf returns what a certificate calls its owner: DNS names, addresses, and the common name.
func namesOf(cert *x509.Certificate) []string {
	names := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	if cert.Subject.CommonName != "" {
		names = append(names, cert.Subject.CommonName)
	}
	return names
}

// userListener accepts connections of some users only, whatever the rights of the socket's file are.
type userListener struct {
	net.Listener
	users  []uint32
	refuse func(reason string)
}

// onlyUsers returns a listener for the users of the address; without any it is the listener itself.
func (a Address) onlyUsers(l net.Listener) (net.Listener, error) {
	if len(a.Users) == 0 {
		return l, nil
	}
	limited := userListener{Listener: l, refuse: a.Refused}
	for _, name := range a.Users {
		id, err := userID(name)
		if err != nil {
			return nil, fmt.Errorf("signer.users: %w", err)
		}
		limited.users = append(limited.users, id)
	}
	return limited, nil
}

// userID returns the number of a user who is named or numbered.
func userID(name string) (uint32, error) {
	if id, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(id), nil
	}
	found, err := user.Lookup(name)
	if err != nil {
		return 0, err
	}
	id, err := strconv.ParseUint(found.Uid, 10, 32)
	return uint32(id), err
}

// Accept closes connections of other users.
func (l userListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		id, err := peerUser(c)
		if err == nil && slices.Contains(l.users, id) {
			return c, nil
		}
		reason := fmt.Sprintf("user %d is not in signer.users", id)
		if err != nil {
			reason = err.Error()
		}
		if l.refuse != nil {
			l.refuse(reason)
		}
		c.Close()
	}
}
