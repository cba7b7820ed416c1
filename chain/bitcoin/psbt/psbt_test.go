package psbt

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
)

// vector is a line of the vectors of BIP 174.
type vector struct{ group, name, text string }

func vectors(t testing.TB, group string) (found []vector) {
	t.Helper()
	file, err := os.Open("testdata/bip174.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		parts := strings.Split(lines.Text(), "\t")
		if len(parts) == 3 && parts[0] == group {
			found = append(found, vector{parts[0], parts[1], parts[2]})
		}
	}
	if len(found) == 0 || lines.Err() != nil {
		t.Fatalf("there are %d vectors of %s, %v, want some and nil", len(found), group, lines.Err())
	}
	return found
}

func decode(t testing.TB, text string) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func read(t *testing.T, text string) *Packet {
	t.Helper()
	p, err := Parse(decode(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestInvalidPacketsOfTheBIPAreRefused(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t, "invalid") {
		if _, err := Parse(decode(t, v.text)); !errors.Is(err, ErrPacket) {
			t.Errorf("%s: got %v, want an ErrPacket", v.name, err)
		}
	}
}

// What is read and written again is the same packet, and is written alike from then on.
func TestValidPacketsOfTheBIPStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t, "valid") {
		p := read(t, v.text)
		again, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if len(again) != len(decode(t, v.text)) {
			t.Errorf("%s: %d bytes are written, want %d", v.name, len(again), len(decode(t, v.text)))
		}
		twice, err := Parse(again)
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		if third, err := twice.Encode(); err != nil || !bytes.Equal(again, third) {
			t.Errorf("%s: got %x (%v), want %x", v.name, third, err, again)
		}
	}
}

// same compares packets by their fields, whose order the BIP leaves open.
func same(t *testing.T, what string, got, want *Packet) {
	t.Helper()
	one, err1 := got.Encode()
	two, err2 := want.Encode()
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(one, two) {
		t.Errorf("%s: got %x, want %x (%v)", what, one, two, err)
	}
}

func TestTheFlowOfTheBIP(t *testing.T) {
	t.Parallel()
	flow, extracted := vectors(t, "flow"), vectors(t, "transaction")
	if len(flow) != 10 || len(extracted) != 1 {
		t.Fatalf("got %d packets and %d transactions, want 10 and 1", len(flow), len(extracted))
	}
	one, two := read(t, flow[3].text), read(t, flow[4].text)
	combined, err := one.Combine(two)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "combined", combined, read(t, flow[5].text))
	final, err := combined.Finalize()
	if err != nil {
		t.Fatal(err)
	}
	same(t, "finalised", final, read(t, flow[6].text))
	tx, err := final.Extract()
	if err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil || hex.EncodeToString(raw.Bytes()) != extracted[0].text {
		t.Errorf("extracted: got %x (%v), want %s", raw.Bytes(), err, extracted[0].text)
	}
	if _, err := one.Finalize(); !errors.Is(err, ErrIncomplete) {
		t.Errorf("half of the signatures are finalised: got %v, want ErrIncomplete", err)
	}
	if _, err := one.Combine(read(t, flow[7].text)); !errors.Is(err, ErrOther) {
		t.Errorf("two transactions are combined: got %v, want ErrOther", err)
	}
	ordered, err := read(t, flow[7].text).Combine(read(t, flow[8].text))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ordered.Encode(); err != nil || !bytes.Equal(got, decode(t, flow[9].text)) {
		t.Errorf("ordered: got %x (%v), want the bytes of the BIP", got, err)
	}
}

// A witness that says it has more items than bytes takes no memory.
func TestAWitnessThatLiesIsRefused(t *testing.T) {
	t.Parallel()
	p := read(t, vectors(t, "flow")[6].text)
	for _, bad := range []string{"fe00000040", "0201", "0100ff", ""} {
		value, err := hex.DecodeString(bad)
		if err != nil {
			t.Fatal(err)
		}
		p.Inputs[1].Set([]byte{InFinalWitness}, value)
		if _, err := p.Extract(); !errors.Is(err, ErrPacket) {
			t.Errorf("the witness %q: got %v, want an ErrPacket", bad, err)
		}
	}
}
