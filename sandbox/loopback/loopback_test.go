package loopback

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
)

// What is given out is free, given once, and never what the system gives by itself.
func TestFreeAddresses(t *testing.T) {
	seen := map[string]bool{}
	for range 50 {
		address, err := Free()
		if err != nil {
			t.Fatal(err)
		}
		if seen[address] {
			t.Errorf("%s is given out twice", address)
		}
		seen[address] = true
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		if port := listener.Addr().(*net.TCPAddr).Port; port >= firstOfTheSystem(t) {
			t.Errorf("port %d may be given to anyone", port)
		}
	}
}

// firstOfTheSystem is the lowest port that the system gives to those who ask for any; what IANA says where it does
// not tell.
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
