package tpm

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-tpm/tpm2"
	"github.com/google/go-tpm/tpm2/transport"
)

// Counter is a counter in the TPM of a machine. It only rises, and a person who removes it and makes another gets one
// that begins above every counter that this TPM ever had, until the TPM is cleared.
//
// It is an orderly counter (TPMA_NV_ORDERLY): the TPM counts in its RAM and writes one value of 256 into its flash
// memory, which would wear out otherwise. A TPM that lost its power without a TPM2_Shutdown therefore skips up to 255
// values when it starts again, and never repeats one.
type Counter struct {
	device string
	index  tpm2.TPMHandle
}

// Errors of counters.
var (
	ErrNoCounter = errors.New("the TPM does not have the counter: it is another TPM, or this one was cleared, or the " +
		"counter was removed")
	ErrCounterName = errors.New("that is no counter of a TPM: tpm:0x01……, as this program names it")
)

// counterPrefix begins the name of a counter.
const counterPrefix = "tpm:0x"

// Indexes of the TPM's owner: TCG Registry of Reserved TPM 2.0 Handles and Localities, 1.1, table 3.
const (
	firstIndex = 0x01800000
	lastIndex  = 0x01BFFFFF
)

// counterSize is how many bytes a counter has: TPM 2.0 part 2, TPM_NT_COUNTER.
const counterSize = 8

// counterAttributes are those of a counter: nobody writes to it, anyone who may use the TPM raises and reads it.
var counterAttributes = tpm2.TPMANV{AuthWrite: true, AuthRead: true, NT: tpm2.TPMNTCounter, NoDA: true, Orderly: true}

// MakeCounter makes a counter in the TPM at a device, under an index that was free, and returns its first value. The
// owner's authorization of the TPM must be empty, as it is for a secret that Seal seals.
func MakeCounter(ctx context.Context, device string) (c Counter, value uint64, err error) {
	random := make([]byte, counterSize)
	if _, err := rand.Read(random); err != nil {
		return c, 0, fmt.Errorf("make a counter in the TPM: %w", err)
	}
	c = Counter{device, tpm2.TPMHandle(firstIndex + binary.BigEndian.Uint64(random)%(lastIndex-firstIndex+1))}
	err = c.use(func(t transport.TPM) error {
		_, err := tpm2.NVDefineSpace{
			AuthHandle: tpm2.TPMRHOwner,
			PublicInfo: tpm2.New2B(tpm2.TPMSNVPublic{NVIndex: c.index, NameAlg: tpm2.TPMAlgSHA256,
				Attributes: counterAttributes, DataSize: counterSize}),
		}.Execute(t)
		if err != nil {
			return err
		}
		value, err = c.raise(ctx, t)
		return err
	})
	if err != nil {
		return c, 0, fmt.Errorf("make a counter in the TPM: %w", err)
	}
	return c, value, nil
}

// CounterAt returns the counter with a name, at a device. It does not ask the TPM. The error is ErrCounterName.
func CounterAt(device, name string) (Counter, error) {
	digits, found := strings.CutPrefix(name, counterPrefix)
	index, err := strconv.ParseUint(digits, 16, 32)
	if !found || err != nil || index < firstIndex || index > lastIndex {
		return Counter{}, fmt.Errorf("%w: %.40q", ErrCounterName, name)
	}
	return Counter{device, tpm2.TPMHandle(index)}, nil
}

// Name returns the counter's name, for CounterAt.
func (c Counter) Name() string { return fmt.Sprintf("%s%08x", counterPrefix, uint32(c.index)) }

// Value returns what the counter holds. The error is ErrNoCounter, ErrNoTPM, or one of the TPM.
func (c Counter) Value(context.Context) (value uint64, err error) {
	err = c.use(func(t transport.TPM) error {
		value, err = c.value(t)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read the counter %s: %w", c.Name(), err)
	}
	return value, nil
}

// Raise raises the counter by one, and returns what it then holds. A TPM that wants to be asked later is, until ctx
// ends. The error is as of Value; it is then unknown whether the counter was raised.
func (c Counter) Raise(ctx context.Context) (value uint64, err error) {
	err = c.use(func(t transport.TPM) error {
		value, err = c.raise(ctx, t)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("raise the counter %s: %w", c.Name(), err)
	}
	return value, nil
}

// Remove removes the counter from the TPM.
func (c Counter) Remove(context.Context) error {
	err := c.use(func(t transport.TPM) error {
		name, err := c.nvName(t)
		if err != nil {
			return err
		}
		_, err = tpm2.NVUndefineSpace{
			AuthHandle: tpm2.TPMRHOwner,
			NVIndex:    tpm2.NamedHandle{Handle: c.index, Name: name},
		}.Execute(t)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove the counter %s: %w", c.Name(), err)
	}
	return nil
}

// use opens the TPM for f. It is closed after each use: an emulator serves one program at a time.
func (c Counter) use(f func(t transport.TPM) error) (err error) {
	t, err := open(c.device)
	if err != nil {
		return fmt.Errorf("open the TPM %s: %w: %w", c.device, ErrNoTPM, err)
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	return f(t)
}

// nvName returns the name of the counter, which is the digest of what it is. Something else under its index is none.
func (c Counter) nvName(t transport.TPM) (name tpm2.TPM2BName, err error) {
	got, err := tpm2.NVReadPublic{NVIndex: c.index}.Execute(t)
	if errors.Is(err, tpm2.TPMRCHandle) {
		return name, ErrNoCounter
	}
	if err != nil {
		return name, err
	}
	public, err := got.NVPublic.Contents()
	if err != nil {
		return name, err
	}
	is := public.Attributes
	if public.NVIndex != c.index || is.NT != tpm2.TPMNTCounter || !is.AuthRead || !is.AuthWrite || !is.Orderly {
		return name, fmt.Errorf("%w: something else is under its index", ErrNoCounter)
	}
	return got.NVName, nil
}

// raiseTime bounds how long a TPM may ask to be asked again.
const raiseTime = 5 * time.Second

func (c Counter) raise(ctx context.Context, t transport.TPM) (uint64, error) {
	name, err := c.nvName(t)
	if err != nil {
		return 0, err
	}
	ctx, stop := context.WithTimeout(ctx, raiseTime)
	defer stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		_, err := tpm2.NVIncrement{
			AuthHandle: tpm2.AuthHandle{Handle: c.index, Name: name, Auth: tpm2.PasswordAuth(nil)},
			NVIndex:    tpm2.NamedHandle{Handle: c.index, Name: name},
		}.Execute(t)
		if err == nil {
			return c.value(t)
		}
		if !errors.Is(err, tpm2.TPMRCNVRate) && !errors.Is(err, tpm2.TPMRCRetry) {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%w: %w", err, context.Cause(ctx))
		case <-again.C:
		}
	}
}

func (c Counter) value(t transport.TPM) (uint64, error) {
	name, err := c.nvName(t)
	if err != nil {
		return 0, err
	}
	got, err := tpm2.NVRead{
		AuthHandle: tpm2.AuthHandle{Handle: c.index, Name: name, Auth: tpm2.PasswordAuth(nil)},
		NVIndex:    tpm2.NamedHandle{Handle: c.index, Name: name},
		Size:       counterSize,
	}.Execute(t)
	if err != nil {
		return 0, err
	}
	if len(got.Data.Buffer) != counterSize {
		return 0, fmt.Errorf("%w: the counter holds %d bytes", ErrNoCounter, len(got.Data.Buffer))
	}
	return binary.BigEndian.Uint64(got.Data.Buffer), nil
}
