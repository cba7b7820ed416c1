package tpm

import (
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-tpm/tpm2"
)

const key = "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ"

// emulator starts swtpm and returns its socket.
func emulator(t *testing.T) string {
	t.Helper()
	device, _ := start(t, stateFolder(t))
	return device
}

// stateFolder returns a folder for what an emulator keeps, and for its socket, whose path must be short.
func stateFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "tpm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

// start starts swtpm with what it kept, and returns its socket and what cuts its power.
func start(t *testing.T, folder string) (device string, kill func()) {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs swtpm")
	}
	program, err := exec.LookPath("swtpm")
	if err != nil {
		t.Fatal("swtpm is not installed: go run ./test -install swtpm")
	}
	socket := filepath.Join(folder, "s")
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, program, "socket", "--tpm2", "--server", "type=unixio,path="+socket,
		"--tpmstate", "dir="+folder, "--flags", "not-need-init,startup-clear")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() { cancel(); _ = c.Wait(); _ = os.Remove(socket) })
	t.Cleanup(kill)
	waiting, enough := context.WithTimeout(t.Context(), time.Minute)
	defer enough()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		// The file is there before anybody listens at it.
		if c, err := new(net.Dialer).DialContext(waiting, "unix", socket); err == nil {
			c.Close()
			return socket, kill
		}
		select {
		case <-tick.C:
		case <-waiting.Done():
			t.Fatal("swtpm did not start")
		}
	}
}

// extend measures something into a PCR, as the firmware does.
func extend(t *testing.T, device string, pcr uint32, what string) {
	t.Helper()
	c, err := open(device)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	digest := sha256.Sum256([]byte(what))
	_, err = tpm2.PCRExtend{
		PCRHandle: tpm2.AuthHandle{Handle: tpm2.TPMHandle(pcr), Auth: tpm2.PasswordAuth(nil)},
		Digests: tpm2.TPMLDigestValues{Digests: []tpm2.TPMTHA{{
			HashAlg: tpm2.TPMAlgSHA256,
			Digest:  digest[:],
		}}},
	}.Execute(c)
	if err != nil {
		t.Fatal(err)
	}
}

// What the TPM sealed it opens, as often as it is asked, until the machine starts something else.
func TestSealedToTheStateOfAMachine(t *testing.T) {
	t.Parallel()
	device := emulator(t)
	if _, err := Seal(device, []int{7}, []byte(key)); !errors.Is(err, ErrNothing) ||
		!strings.Contains(err.Error(), "PCR 7") {
		t.Errorf("to a PCR that is empty: %v, want %v", err, ErrNothing)
	}
	extend(t, device, 7, "secure boot is on")
	sealed, err := Seal(device, []int{7}, []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // a TPM has room for three objects: nothing is left in it
		if got, err := Unseal(device, sealed); err != nil || string(got) != key {
			t.Fatalf("opened into %q, %v, want %q", got, err, key)
		}
	}
	extend(t, device, 8, "something that does not matter")
	if got, err := Unseal(device, sealed); err != nil || string(got) != key {
		t.Errorf("after another PCR changed: %q, %v, want %q", got, err, key)
	}
	extend(t, device, 7, "secure boot is off")
	if got, err := Unseal(device, sealed); !errors.Is(err, ErrState) || len(got) > 0 {
		t.Errorf("after the PCR changed: %q, %v, want %v", got, err, ErrState)
	}
	other := emulator(t)
	extend(t, other, 7, "secure boot is on")
	if got, err := Unseal(other, sealed); !errors.Is(err, ErrOtherTPM) || len(got) > 0 {
		t.Errorf("by another TPM: %q, %v, want %v", got, err, ErrOtherTPM)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	for name, pcrs := range map[string][]int{"none": nil, "twice": {7, 7}, "below": {-1}, "above": {24}} {
		if _, err := Seal(none, pcrs, []byte(key)); !errors.Is(err, ErrPCRs) {
			t.Errorf("PCRs %s: %v, want %v", name, err, ErrPCRs)
		}
	}
	if _, err := Seal(none, []int{7}, make([]byte, maxSecret+1)); err == nil {
		t.Error("a secret of 129 bytes is taken, want an error")
	}
	if _, err := Seal(none, []int{7}, []byte(key)); !errors.Is(err, ErrNoTPM) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a TPM: %v, want %v", err, ErrNoTPM)
	}
	for _, sealed := range []string{"", "!", "e30=", "bnVsbA=="} {
		if _, err := Unseal(none, sealed); !errors.Is(err, ErrBlob) {
			t.Errorf("%q: %v, want %v", sealed, err, ErrBlob)
		}
	}
}

// The attack: what sits between processor and TPM hands over a key of its own under the name of the TPM's root key, and
// the session is encrypted to it.
func TestTheRootKeyIsTheOneOfItsName(t *testing.T) {
	t.Parallel()
	area := func(x byte) tpm2.TPMTPublic {
		public := tpm2.ECCSRKTemplate
		public.Unique = tpm2.NewTPMUPublicID(tpm2.TPMAlgECC, &tpm2.TPMSECCPoint{
			X: tpm2.TPM2BECCParameter{Buffer: []byte{31: x}},
			Y: tpm2.TPM2BECCParameter{Buffer: []byte{31: x}},
		})
		return public
	}
	own, external := area(1), area(2)
	name, err := tpm2.ObjectName(&own)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rootOf(&tpm2.CreatePrimaryResponse{OutPublic: tpm2.New2B(own), Name: *name}); err != nil {
		t.Errorf("the key of the name: %v, want no error", err)
	}
	if _, err := rootOf(&tpm2.CreatePrimaryResponse{OutPublic: tpm2.New2B(external), Name: *name}); !errors.Is(err,
		errName) {
		t.Errorf("another key under the name: %v, want %v", err, errName)
	}
}
