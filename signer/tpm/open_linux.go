package tpm

import (
	"os"

	"github.com/google/go-tpm/tpm2/transport"
	"github.com/google/go-tpm/tpm2/transport/linuxtpm"
	"github.com/google/go-tpm/tpm2/transport/linuxudstpm"
)

// open opens a device, or the socket of an emulator.
func open(device string) (transport.TPMCloser, error) {
	info, err := os.Stat(device)
	if err != nil {
		return nil, err
	}
	if info.Mode()&os.ModeSocket != 0 {
		return linuxudstpm.Open(device)
	}
	return linuxtpm.Open(device)
}
