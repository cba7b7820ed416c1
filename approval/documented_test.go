package approval_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bursar/bursar/approval"
)

// The compromise order of docs/operations/compromise.md is one that is read, spelled as the program spells it.
func TestTheDocumentedCompromiseOrderIsRead(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/operations/compromise.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```\n   (bursar-compromise/1\n.*?)   ```").FindSubmatch(page)
	if block == nil {
		t.Fatal("the page has no compromise order, want one")
	}
	text := strings.ReplaceAll(string(block[1]), "\n   ", "\n")
	if o, err := approval.ParseCompromise(text); err != nil || o.Text() != text {
		t.Errorf("got %s, %v, want\n%s", o.Text(), err, text)
	}
}

// The order of docs/operations/orders.md is one that is read, spelled as the program spells it.
func TestTheDocumentedOrderIsRead(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/operations/orders.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```\n(bursar-order/1\n.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("the page has no order, want one")
	}
	text := string(block[1])
	if o, err := approval.ParseOrder(text); err != nil || o.Text() != text {
		t.Errorf("got %s, %v, want\n%s", o.Text(), err, text)
	}
}
