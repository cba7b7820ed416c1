package loopback

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestFreeAddresses checks that a returned address is free, is returned once, and is never one that the system gives
// by itself.
func TestFreeAddresses(t *testing.T) {
	seen := map[string]bool{}
	for range 50 {
		address, err := Free()
		if err != nil {
			t.Fatal(err)
		}
		if seen[address] {
			t.Errorf("%s is returned twice", address)
		}
		seen[address] = true
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		if port := listener.Addr().(*net.TCPAddr).Port; port >= firstOfTheSystem(t) {
			t.Errorf("the system may give port %d to any server", port)
		}
	}
}

// firstOfTheSystem is the lowest port that the system gives to servers that ask for any; IANA's if the system does
// not report it.
func firstOfTheSystem(t *testing.T) int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 49152
	}
	first, err := strconv.Atoi(strings.Fields(string(text))[0])
	if err != nil {
		t.Fatal(err)
	}
	return first
}
