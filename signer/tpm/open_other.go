//go:build !linux

package tpm

import (
	"errors"

	"github.com/google/go-tpm/tpm2/transport"
)

func open(string) (transport.TPMCloser, error) { return nil, errors.New("only Linux is supported") }
