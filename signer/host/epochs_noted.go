package host

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
)

// EpochsFile returns the file beside the seed that says which epochs have begun. It is apart from the state, so that a
// state that is lost or set back does not take the hot wallet back to an earlier epoch.
func EpochsFile(cfg config.Config) string { return cfg.SeedFile + ".epochs" }

// epochsNote is the content of EpochsFile. An earlier release wrote the list alone, unsigned.
type epochsNote struct {
	Epochs    []memory.Epoch `json:"epochs"` // oldest first
	Signature string         `json:"signature"`
}

// UnmarshalJSON reads what an earlier release wrote too.
func (n *epochsNote) UnmarshalJSON(text []byte) error {
	if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '[' {
		*n = epochsNote{}
		return json.Unmarshal(text, &n.Epochs)
	}
	type plain epochsNote
	return json.Unmarshal(text, (*plain)(n))
}

// text is what is signed of a note: a label and each epoch in a line of its own.
func (n epochsNote) text() []byte {
	text := []byte(signer.EpochsLabel)
	for _, e := range n.Epochs {
		text = fmt.Appendf(text, "%d\n%q\n%d\n", e.Number, e.Fingerprint, e.Begun.UnixMilli())
	}
	return text
}

// signed reports whether the owner of a seed signed the note. One without a signature is of an earlier release; another
// signature is ErrEpochForged.
func (n epochsNote) signed(by *signer.Keys) (bool, error) {
	if n.Signature == "" {
		return len(n.Epochs) == 0, nil
	}
	signature, err := hex.DecodeString(n.Signature)
	if err != nil || !ed25519.Verify(by.LogKey(), n.text(), signature) {
		return false, ErrEpochForged
	}
	return true, nil
}

// NotedEpochs reads beside the seed which epochs have begun, oldest first. A file that cannot be read is an error: it
// says that there were some. Who signed it is not asked: that takes the seed.
func NotedEpochs(cfg config.Config) (list []memory.Epoch, err error) {
	note, err := readEpochs(cfg)
	return note.Epochs, err
}

func readEpochs(cfg config.Config) (note epochsNote, err error) {
	text, err := os.ReadFile(EpochsFile(cfg))
	if errors.Is(err, fs.ErrNotExist) {
		return note, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &note)
	}
	for i, e := range note.Epochs {
		if err == nil && (int(e.Number) != i+1 || e.Fingerprint == "") {
			err = fmt.Errorf("entry %d of it is epoch %d", i+1, e.Number)
		}
	}
	if err != nil {
		return note, fmt.Errorf("read %s, which says which epochs have begun: %w", EpochsFile(cfg), err)
	}
	return note, nil
}

func noteEpochs(cfg config.Config, keys *signer.Keys, list []memory.Epoch) error {
	note := epochsNote{Epochs: list}
	note.Signature = hex.EncodeToString(keys.SignEpochs(note.text()))
	text, err := json.MarshalIndent(note, "", " ")
	if err == nil {
		err = writeDurably(EpochsFile(cfg), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("note the epochs: %w", err)
	}
	return nil
}
