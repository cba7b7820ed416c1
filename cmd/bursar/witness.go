package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bursar/bursar/durable"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/proof"
)

// witnessCommands are for a machine that neither the service nor the signer is on. They need no configuration.
type witnessCommands struct {
	New    witnessNewCommand    `cmd:"" help:"Make the key of a witness."`
	Cosign witnessCosignCommand `cmd:"" help:"Check that the signer's log only grew since last time, and cosign it."`
}

type witnessNewCommand struct {
	File string `arg:"" placeholder:"FILE" help:"Where the private key is written. A file that is there stays."`
	Name string `required:"" placeholder:"NAME" help:"Name of the witness, such as a domain: witness.example.com."`
	command.Acting
}

// Help returns an example.
func (witnessNewCommand) Help() string {
	return "Writes a private key of ed25519 into a file with mode 0600, and prints the public key, for " +
		"signer.witness and `bursar audit verify --witness`. Use a key for one witness and one log.\n\nExample:\n\n" +
		"    bursar audit witness new witness.key --name witness.example.com"
}

// Run makes a key.
func (cmd *witnessNewCommand) Run(c *call) error {
	if strings.ContainsAny(cmd.Name, "+ \t\n") || cmd.Name == "" {
		return command.Wrong("--name: a name has neither spaces nor +")
	}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return fmt.Errorf("make the key: %w", err)
	}
	file, err := os.OpenFile(cmd.File, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	_, err = fmt.Fprintf(file, "%s %s\n", cmd.Name, base64.StdEncoding.EncodeToString(private.Seed()))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	key := proof.WitnessKey(cmd.Name, public)
	c.Keep(command.Facts{"key": key})
	return c.Say("%s", key)
}

type witnessCosignCommand struct {
	Request string `arg:"" placeholder:"FILE" help:"What bursar audit checkpoint --since printed."`
	KeyFile string `required:"" placeholder:"FILE" help:"The private key of this witness."`
	LogKey  string `required:"" placeholder:"KEY" help:"The key that bursar audit checkpoint printed."`
	Seen    string `required:"" placeholder:"FILE" help:"What this witness cosigned last. It is made with the first checkpoint."`
	Forget  bool   `help:"Begin with this checkpoint as with the first, because the signer's state was lost and you know why."`
}

// Help returns an example.
func (witnessCosignCommand) Help() string {
	return "Checks that the request is signed by the signer and that its log still holds everything that this witness " +
		"cosigned before; then it notes the new size and prints the checkpoint with a second signature and the time. " +
		"Run it on a machine of somebody who has no access to the signer. A log that was changed is " +
		"refused.\n\nExample:\n\n" +
		"    bursar audit witness cosign request.txt --key-file witness.key --seen witness.seen " +
		"--log-key 'bursar-signer-log/5c1e+3f2a9b10+AXu0...' > november.txt"
}

// Run cosigns a checkpoint.
func (cmd *witnessCosignCommand) Run(c *call) error {
	w, err := cmd.witness()
	if err != nil {
		return err
	}
	request, err := os.ReadFile(cmd.Request)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	both, next, seen, err := cmd.cosign(w, string(request))
	if err != nil {
		return err
	}
	c.Note("Cosigned %d entries of %s; %d were cosigned before.", next.Size, next.Log, seen.Size)
	_, err = fmt.Fprint(c.Stdout, both)
	return err
}

// cosign evaluates a request against what was seen, notes it and signs it, alone: from reading what was seen to noting
// what is cosigned the lock is held, which the end of the process gives back, also where it is killed.
//
// The attack: two histories of one log are brought at once, so that each is compared with what was seen before both.
func (cmd *witnessCosignCommand) cosign(w proof.Witness, request string) (
	both string, next, seen proof.Seen, err error,
) {
	path, err := whereSeen(cmd.Seen)
	if err != nil {
		return "", next, seen, err
	}
	unlock, err := marks.Lock(path + ".lock")
	if err != nil {
		return "", next, seen, fmt.Errorf("lock %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if !cmd.Forget {
		if seen, err = readSeen(path); err != nil {
			return "", next, seen, err
		}
	}
	next, signed, err := w.Evaluate(request, seen, time.Now())
	if err != nil {
		return "", next, seen, err
	}
	if err := noteSeen(path, next); err != nil { // before the signature exists
		return "", next, seen, err
	}
	both, err = w.Cosign(signed, next)
	return both, next, seen, err
}

// whereSeen follows links, so that one file has one lock by whatever name, and it and not the link is replaced.
func whereSeen(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("read %s, which says what was cosigned: it leads to a file that is missing", path)
		}
		folder, err := filepath.EvalSymlinks(filepath.Dir(path)) // the first checkpoint
		if err != nil {
			return "", fmt.Errorf("note what is cosigned: %w", err)
		}
		return filepath.Join(folder, filepath.Base(path)), nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s, which says what was cosigned: %w", path, err)
	}
	return real, nil
}

func (cmd *witnessCosignCommand) witness() (w proof.Witness, err error) {
	text, err := os.ReadFile(cmd.KeyFile)
	if err != nil {
		return w, fmt.Errorf("read the key of the witness: %w", err)
	}
	defer clear(text)
	name, encoded, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	seed, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(seed) != ed25519.SeedSize || name == "" {
		return w, fmt.Errorf("%s is no key of a witness", cmd.KeyFile)
	}
	defer clear(seed)
	return proof.Witness{Name: name, Private: ed25519.NewKeyFromSeed(seed), LogKey: cmd.LogKey}, nil
}

// readSeen reads what a witness cosigned last; nothing where there is no file. One that cannot be read is an error: it
// says that there was something.
func readSeen(path string) (seen proof.Seen, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return seen, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &seen)
	}
	if err == nil && seen.Size < 1 {
		err = errors.New("no size is named")
	}
	if err != nil {
		return seen, fmt.Errorf("read %s, which says what was cosigned: %w", path, err)
	}
	return seen, nil
}

// noteSeen replaces the file at once and durably.
func noteSeen(path string, seen proof.Seen) error {
	text, err := json.Marshal(seen)
	if err != nil {
		return fmt.Errorf("note what is cosigned: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".")
	if err != nil {
		return fmt.Errorf("note what is cosigned: %w", err)
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("note what is cosigned: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return durable.SyncFolder(filepath.Dir(path))
}
