// Package tpm seals a short secret to the TPM 2.0 of this machine and to the state that it measured.
//
// It owns what is sealed and how. Its invariants: only the TPM that sealed opens, and only while the chosen PCRs hold
// what they held then; between this process and the TPM the secret travels encrypted; nothing is left in the TPM.
package tpm

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/go-tpm/tpm2"
	"github.com/google/go-tpm/tpm2/transport"
)

// Device is where Linux offers the TPM to several programs at a time.
const Device = "/dev/tpmrm0"

// maxSecret is what a TPM seals at most, in bytes: MAX_SYM_DATA of TPM 2.0 part 2, "Implementation Dependent Values".
const maxSecret = 128

// Errors of sealing and opening.
var (
	ErrNoTPM = errors.New("the TPM cannot be used")
	ErrState = errors.New("the TPM refuses: its PCRs are not what they were when the secret was sealed, as after an " +
		"update of the firmware or of what it starts")
	ErrOtherTPM = errors.New("the secret was sealed by another TPM, or this one was cleared since")
	ErrBlob     = errors.New("what was sealed is damaged")
	ErrPCRs     = errors.New("PCRs are numbers from 0 to 23, each once, at least one")
	errName     = errors.New("the root key is not the one of its name: something between processor and TPM changed it")
	ErrNothing  = errors.New("the PCR is empty: nothing was measured into it, so it tells no states apart")
)

// blob is what Seal returns. It holds no secret that can be read without the TPM.
type blob struct {
	PCRs    []int  `json:"pcrs"`
	Parent  []byte `json:"parent"` // name of the key under which the secret is sealed
	Public  []byte `json:"public"`
	Private []byte `json:"private"`
}

// Seal seals a secret of at most 128 bytes to the TPM at a device, or at the socket of an emulator, and to what the
// PCRs of its bank of SHA-256 hold now. A PCR that holds nothing is refused with ErrNothing.
func Seal(device string, pcrs []int, secret []byte) (sealed string, err error) {
	if len(secret) == 0 || len(secret) > maxSecret {
		return "", fmt.Errorf("seal by the TPM: the secret has %d bytes, 1 to %d can be sealed", len(secret), maxSecret)
	}
	if !valid(pcrs) {
		return "", fmt.Errorf("seal by the TPM: %w", ErrPCRs)
	}
	c, err := connect(device)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.measured(pcrs); err != nil {
		return "", fmt.Errorf("seal by the TPM: %w", err)
	}
	policy, err := c.policy(pcrs)
	if err != nil {
		return "", fmt.Errorf("seal by the TPM: %w", err)
	}
	made, err := tpm2.Create{
		ParentHandle: c.parent(tpm2.AESEncryption(128, tpm2.EncryptIn)),
		InSensitive: tpm2.TPM2BSensitiveCreate{Sensitive: &tpm2.TPMSSensitiveCreate{
			Data: tpm2.NewTPMUSensitiveCreate(&tpm2.TPM2BSensitiveData{Buffer: secret}),
		}},
		InPublic: tpm2.New2B(tpm2.TPMTPublic{
			Type:    tpm2.TPMAlgKeyedHash,
			NameAlg: tpm2.TPMAlgSHA256,
			// not UserWithAuth: the policy alone
			ObjectAttributes: tpm2.TPMAObject{FixedTPM: true, FixedParent: true, NoDA: true},
			AuthPolicy:       tpm2.TPM2BDigest{Buffer: policy},
		}),
	}.Execute(c.tpm)
	if err != nil {
		return "", fmt.Errorf("seal by the TPM: %w", err)
	}
	text, err := json.Marshal(blob{
		PCRs:    pcrs,
		Parent:  c.srk.Name.Buffer,
		Public:  tpm2.Marshal(made.OutPublic),
		Private: tpm2.Marshal(made.OutPrivate),
	})
	return base64.StdEncoding.EncodeToString(text), err
}

// Unseal returns the secret. The error is ErrState, ErrOtherTPM, ErrNoTPM or ErrBlob.
func Unseal(device, sealed string) (secret []byte, err error) {
	b, public, private, err := read(sealed)
	if err != nil {
		return nil, err
	}
	c, err := connect(device)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if !slices.Equal(c.srk.Name.Buffer, b.Parent) {
		return nil, ErrOtherTPM
	}
	loaded, err := tpm2.Load{ParentHandle: c.parent(), InPrivate: *private, InPublic: *public}.Execute(c.tpm)
	if err != nil {
		return nil, fmt.Errorf("open by the TPM: %w: %w", ErrBlob, err)
	}
	defer func() {
		_, flushed := tpm2.FlushContext{FlushHandle: loaded.ObjectHandle}.Execute(c.tpm)
		err = errors.Join(err, flushed)
	}()
	session, end, err := c.session(b.PCRs, tpm2.AESEncryption(128, tpm2.EncryptOut))
	if err != nil {
		return nil, fmt.Errorf("open by the TPM: %w", err)
	}
	defer func() { err = errors.Join(err, end()) }()
	opened, err := tpm2.Unseal{ItemHandle: tpm2.AuthHandle{
		Handle: loaded.ObjectHandle,
		Name:   loaded.Name,
		Auth:   session,
	}}.Execute(c.tpm)
	if errors.Is(err, tpm2.TPMRCPolicyFail) {
		return nil, fmt.Errorf("%w (PCRs %v)", ErrState, b.PCRs)
	}
	if err != nil {
		return nil, fmt.Errorf("open by the TPM: %w", err)
	}
	return opened.OutData.Buffer, nil
}

func read(sealed string) (b blob, public *tpm2.TPM2BPublic, private *tpm2.TPM2BPrivate, err error) {
	text, err := base64.StdEncoding.DecodeString(sealed)
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err == nil && !valid(b.PCRs) {
		err = ErrPCRs
	}
	if err == nil {
		public, err = tpm2.Unmarshal[tpm2.TPM2BPublic](b.Public)
	}
	if err == nil {
		private, err = tpm2.Unmarshal[tpm2.TPM2BPrivate](b.Private)
	}
	if err != nil {
		return blob{}, nil, nil, fmt.Errorf("open by the TPM: %w: %w", ErrBlob, err)
	}
	return b, public, private, nil
}

// valid reports whether PCRs are such as a PC has.
func valid(pcrs []int) bool {
	seen := map[int]bool{}
	for _, n := range pcrs {
		if n < 0 || n > 23 || seen[n] {
			return false
		}
		seen[n] = true
	}
	return len(pcrs) > 0
}

// connection is an open TPM with the key under which secrets are sealed.
type connection struct {
	tpm    transport.TPMCloser
	srk    *tpm2.CreatePrimaryResponse
	public tpm2.TPMTPublic
}

// connect makes the storage root key of the TPM's owner again, which is the same each time until the TPM is cleared.
func connect(device string) (*connection, error) {
	t, err := open(device)
	if err != nil {
		return nil, fmt.Errorf("open the TPM %s: %w: %w", device, ErrNoTPM, err)
	}
	srk, err := tpm2.CreatePrimary{
		PrimaryHandle: tpm2.TPMRHOwner,
		InPublic:      tpm2.New2B(tpm2.ECCSRKTemplate),
	}.Execute(t)
	if err != nil {
		return nil, fmt.Errorf("use the TPM %s: %w: %w", device, ErrNoTPM, errors.Join(err, t.Close()))
	}
	c := &connection{tpm: t, srk: srk}
	if c.public, err = rootOf(srk); err != nil {
		return nil, fmt.Errorf("use the TPM %s: %w: %w", device, ErrNoTPM, errors.Join(err, c.close()))
	}
	return c, nil
}

// rootOf returns the public area of the root key, whose digest its name must be. Unseal knows the root key by that
// name: what sits between processor and TPM could otherwise hand over a key of its own under it, and read what is
// encrypted.
func rootOf(made *tpm2.CreatePrimaryResponse) (tpm2.TPMTPublic, error) {
	public, err := made.OutPublic.Contents()
	if err != nil {
		return tpm2.TPMTPublic{}, err
	}
	name, err := tpm2.ObjectName(public)
	if err != nil {
		return tpm2.TPMTPublic{}, err
	}
	if !slices.Equal(name.Buffer, made.Name.Buffer) {
		return tpm2.TPMTPublic{}, errName
	}
	return *public, nil
}

func (c *connection) close() error {
	_, err := tpm2.FlushContext{FlushHandle: c.srk.ObjectHandle}.Execute(c.tpm)
	return errors.Join(err, c.tpm.Close())
}

// salted encrypts a session with a key that only the TPM can learn, so that a reader of the bus cannot.
func (c *connection) salted(options ...tpm2.AuthOption) []tpm2.AuthOption {
	return append(options, tpm2.Salted(c.srk.ObjectHandle, c.public))
}

func (c *connection) parent(options ...tpm2.AuthOption) tpm2.AuthHandle {
	return tpm2.AuthHandle{
		Handle: c.srk.ObjectHandle,
		Name:   c.srk.Name,
		Auth:   tpm2.HMAC(tpm2.TPMAlgSHA256, 16, c.salted(options...)...),
	}
}

// session opens a session in which the PCRs were compared.
func (c *connection) session(pcrs []int, options ...tpm2.AuthOption) (tpm2.Session, func() error, error) {
	session, end, err := tpm2.PolicySession(c.tpm, tpm2.TPMAlgSHA256, 16, c.salted(options...)...)
	if err != nil {
		return nil, nil, err
	}
	if _, err := (tpm2.PolicyPCR{PolicySession: session.Handle(), Pcrs: selection(pcrs)}).Execute(c.tpm); err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return session, end, nil
}

// policy returns the digest of the policy that demands what the PCRs hold now.
func (c *connection) policy(pcrs []int) (digest []byte, err error) {
	session, end, err := c.session(pcrs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	got, err := tpm2.PolicyGetDigest{PolicySession: session.Handle()}.Execute(c.tpm)
	if err != nil {
		return nil, err
	}
	return got.PolicyDigest.Buffer, nil
}

// measured refuses a PCR that is all zeros, or that the TPM does not have.
func (c *connection) measured(pcrs []int) error {
	for _, n := range pcrs {
		got, err := tpm2.PCRRead{PCRSelectionIn: selection([]int{n})}.Execute(c.tpm)
		if err != nil {
			return err
		}
		if len(got.PCRValues.Digests) != 1 || !slices.ContainsFunc(got.PCRValues.Digests[0].Buffer,
			func(b byte) bool { return b != 0 }) {
			return fmt.Errorf("PCR %d: %w", n, ErrNothing)
		}
	}
	return nil
}

func selection(pcrs []int) tpm2.TPMLPCRSelection {
	numbers := make([]uint, len(pcrs))
	for i, n := range pcrs {
		numbers[i] = uint(n)
	}
	return tpm2.TPMLPCRSelection{PCRSelections: []tpm2.TPMSPCRSelection{{
		Hash:      tpm2.TPMAlgSHA256,
		PCRSelect: tpm2.PCClientCompatible.PCRs(numbers...),
	}}}
}
