package main

import (
	"bytes"
	"io"
	"sync"
)

// held keeps what is written to it until it is released, and passes on the rest at once.
type held struct {
	to       io.Writer
	released chan struct{} // closed by release

	one  sync.Mutex
	open bool
	kept bytes.Buffer
}

func hold(to io.Writer) *held { return &held{to: to, released: make(chan struct{})} }

func (h *held) Write(text []byte) (int, error) {
	h.one.Lock()
	defer h.one.Unlock()
	if h.open {
		return h.to.Write(text)
	}
	return h.kept.Write(text)
}

// release writes what was kept. It is called once.
func (h *held) release() error {
	h.one.Lock()
	defer h.one.Unlock()
	h.open = true
	defer close(h.released)
	_, err := h.kept.WriteTo(h.to)
	return err
}
