package push

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// publisher is the other end of a subscription; its bytes are those of libzmq 4.3.4 (bitcoind's).
type publisher struct {
	*testing.T
	net.Conn
}

// The bytes of libzmq 4.3.4: its greeting (version 3.1), and READY of a PUB socket.
const (
	libzmqGreeting = "ff00000000000000017f" + "0301" + "4e554c4c" + "00000000000000000000000000000000" + "00" +
		"00000000000000000000000000000000000000000000000000000000000000"
	libzmqReady = "0426" + "055245414459" + "0b" + "536f636b65742d54797065" + "00000003" + "505542" + "08" +
		"4964656e74697479" + "00000000"
)

func (p publisher) send(text string) {
	p.Helper()
	raw, err := hex.DecodeString(text)
	if err == nil {
		_, err = p.Write(raw)
	}
	if err != nil {
		p.Error(err)
	}
}

func (p publisher) expect(text string) {
	p.Helper()
	got := make([]byte, len(text)/2)
	if _, err := io.ReadFull(p, got); err != nil || hex.EncodeToString(got) != text {
		p.Errorf("the subscriber sends %x (%v), want %s", got, err, text)
	}
}

// greets makes the handshake and receives the subscription to the topic "hashblock".
func (p publisher) greets() {
	p.Helper()
	p.expect(hex.EncodeToString(greeting()))
	p.send(libzmqGreeting)
	p.expect("04" + "19" + "055245414459" + "0b" + "536f636b65742d54797065" + "00000003" + "535542")
	p.send(libzmqReady)
	p.expect("000a" + "01" + hex.EncodeToString([]byte("hashblock")))
}

// block publishes a block as bitcoind does: topic, hash, number.
func (p publisher) block() {
	p.Helper()
	p.send("0109" + hex.EncodeToString([]byte("hashblock")) + "0120" + strings.Repeat("ab", 32) + "0004" + "07000000")
}

// listen runs a subscription to hashblock against a publisher with the behaviour play, in a synctest bubble.
func listen(t *testing.T, c Config, play func(p publisher)) (announcements int, err error) {
	t.Helper()
	here, there := net.Pipe()
	c.Dial = func(context.Context, string, string) (net.Conn, error) { return here, nil }
	played := make(chan struct{})
	go func() {
		defer close(played)
		defer there.Close()
		play(publisher{t, there})
		synctest.Wait() // close only while the subscriber reads: setting a deadline on a closed pipe is another error
	}()
	err = c.ZMQ(t.Context(), "tcp://node.example:28332", []string{"hashblock"}, func() { announcements++ })
	<-played
	return announcements, err
}

func TestZMQAnnouncesBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, err := listen(t, Config{}, func(p publisher) {
			p.greets()
			p.block()
			p.send("0108" + hex.EncodeToString([]byte("rawblock")) + "0004" + "07000000") // another topic
			// A block of 300,000 bytes in a frame of the long form, which is skipped.
			p.send("0109" + hex.EncodeToString([]byte("hashblock")) + "02" + "00000000000493e0" + strings.Repeat("00", 300_000))
		})
		if n != 3 || !errors.Is(err, io.EOF) {
			t.Errorf("%d announcements with that of the subscription itself, %v, want 3 and %v", n, err, io.EOF)
		}
	})
}

func TestZMQAnswersPings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, err := listen(t, Config{}, func(p publisher) {
			p.greets()
			p.send("0409" + "0450494e47" + "0064" + "aabb")
			p.expect("0407" + "04504f4e47" + "aabb")
		})
		if !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
}

// A publisher that has answered a ping and then stops answering ends the subscription long before Config.Silence.
func TestZMQNoticesABrokenConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		_, err := listen(t, Config{Silence: 2 * time.Hour}, func(p publisher) {
			p.greets()
			p.expect("0407" + "0450494e47" + "0000")
			p.send("0405" + "04504f4e47")
			p.expect("0407" + "0450494e47" + "0000")
			_, _ = p.Read(make([]byte, 1)) // until the subscriber closes the connection
		})
		if took := time.Since(started); !errors.Is(err, ErrSilent) || took > time.Minute+replyTime {
			t.Errorf("ended after %v with %v, want %v and at most %v", took, err, ErrSilent, time.Minute+replyTime)
		}
	})
}

// One that never answers pings, as an old one may, has the whole Config.Silence; other topics do not extend it.
func TestZMQEndsASilentSubscription(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		n, err := listen(t, Config{Silence: 10 * time.Minute}, func(p publisher) {
			p.greets()
			p.block()
			for range 100 {
				p.expect("0407" + "0450494e47" + "0000")
				p.send("0002" + "6162") // a message of another topic
				if time.Since(started) > 9*time.Minute+30*time.Second {
					break
				}
			}
			_, _ = io.Copy(io.Discard, p)
		})
		if took := time.Since(started); n != 2 || !errors.Is(err, ErrSilent) || took < 10*time.Minute ||
			took > 11*time.Minute {
			t.Errorf("%d announcements, ended after %v with %v, want 2 and %v and at least %v and at most %v", n, took, err,
				ErrSilent, 10*time.Minute, 11*time.Minute)
		}
	})
}

func TestZMQEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	here, there := net.Pipe()
	defer there.Close()
	go publisher{t, there}.greets()
	c := Config{Dial: func(context.Context, string, string) (net.Conn, error) { return here, nil }}
	if err := c.ZMQ(ctx, "tcp://node.example:1", []string{"hashblock"}, cancel); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestZMQRefusesAPeerThatIsNotAPublisher(t *testing.T) {
	t.Parallel()
	hello := hex.EncodeToString(greeting())
	for why, play := range map[string]func(p publisher){
		"does not use ZMTP 3": func(p publisher) {
			p.expect(hello)
			p.send(hex.EncodeToString([]byte(strings.Repeat("HTTP/1.1 400 ", 5)[:64])))
		},
		`mechanism "CURVE"`: func(p publisher) {
			p.expect(hello)
			p.send(strings.Replace(libzmqGreeting, "4e554c4c00", "4355525645", 1))
		},
		`is a "REP", want PUB`: func(p publisher) {
			p.expect(hello)
			p.send(libzmqGreeting)
			p.expect("0419" + "055245414459" + "0b" + "536f636b65742d54797065" + "00000003" + "535542")
			p.send(strings.Replace(libzmqReady, "505542", "524550", 1))
		},
		"the flags 0xff":   func(p publisher) { p.greets(); p.send("ff") },
		"a frame has 1152": func(p publisher) { p.greets(); p.send("02" + "1000000000000000") },
		"too many parts":   func(p publisher) { p.greets(); p.send(strings.Repeat("010161", maxParts)) },
		"has no name":      func(p publisher) { p.greets(); p.send("0400") },
		"i/o timeout": func(p publisher) {
			p.greets()
			p.send("0109" + "61")
			_,
				_ = p.Read(make([]byte, 1))
		},
		"ended the subscription with": func(p publisher) { p.greets(); p.send("0408" + "054552524f52" + "0162") },
		"want READY": func(p publisher) {
			p.expect(hello)
			p.send(libzmqGreeting)
			p.expect("0419")
			go io.Copy(io.Discard, p)
			p.send("0408" + "054552524f52" + "0162")
		},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if _, err := listen(t, Config{}, play); err == nil || !strings.Contains(err.Error(), why) {
					t.Errorf("%v, want %q", err, why)
				}
			})
		})
	}
}

func TestZMQDialsTheAddressOfItsURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{"tcp://[::1]:28332": "tcp [::1]:28332",
		"ipc:///run/bitcoind/blocks": "unix /run/bitcoind/blocks"} {
		var got string
		failed := errors.New("connection refused")
		c := Config{Dial: func(_ context.Context, network, address string) (net.Conn, error) {
			got = network + " " + address
			return nil, failed
		}}
		if err := c.ZMQ(t.Context(), raw, nil, nil); !errors.Is(err, failed) || got != want {
			t.Errorf("%s dials %s with the error %v, want %s", raw, got, err, want)
		}
	}
	for _, raw := range []string{"http://node.example", "ws://node.example", "tcp://", "node.example:28332", ":", ""} {
		if err := (Config{}).ZMQ(t.Context(), raw, nil, nil); err == nil {
			t.Errorf("%q is accepted, want an error", raw)
		}
	}
}

// FuzzZMQ sends arbitrary bytes after a valid greeting. In any case the subscription ends and no frame is kept.
func FuzzZMQ(f *testing.F) {
	for _, seed := range []string{"0109", "0405", "02ffffffffffffffff", "0409" + "0450494e47" + "0064" + "aabb",
		"06" + "0000000000000000"} {
		raw, err := hex.DecodeString(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		here, there := net.Pipe()
		c := Config{Dial: func(context.Context, string, string) (net.Conn, error) { return here, nil }}
		go func() {
			p := publisher{t, there}
			p.greets()
			go io.Copy(io.Discard, there)
			_, _ = there.Write(sent)
			_ = there.Close()
		}()
		if err := c.ZMQ(t.Context(), "tcp://node.example:1", []string{"hashblock"}, func() {}); err == nil {
			t.Error("the subscription ended without a reason")
		}
	})
}
