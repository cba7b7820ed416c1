package clients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/client"
)

// snippet is the code of one language in the documents, which a program of a few lines plays to its end.
type snippet struct {
	language, mark string            // as people and as fences name it
	suffix         string            // of the program's file
	runs           []string          // what runs it
	base           string            // the URL of the service
	before, behind string            // what the code takes for given, and what shows that it came to its end
	shorter        map[string]string // endless loops end with their first turn
}

var snippets = []snippet{{
	language: "Python",
	mark:     "python",
	suffix:   ".py",
	runs:     []string{"python3"},
	base:     `os.environ["BURSAR_API"]`,
	before: `import os
import bursar
key, secret, address = os.environ["BURSAR_API_KEY"], os.environ["BURSAR_API_SECRET"], os.environ["BURSAR_ADDRESS"]
charge_id, payment_id, since, last_event_id = os.environ["BURSAR_CHARGE"], "payment 1", "2026-01-01T00:00:00Z", None
webhook_secret = "` + receiverSecret + `"
class request:
    headers, body = bursar.sign_webhook(webhook_secret, {"eventID": "the end"})
body = request.body
`,
	behind: "\nprint(event['eventID'])\n",
	shorter: map[string]string{
		"    ...":               "    break",
		`print(event["event"])`: `print(event["event"]); event = {"eventID": "the end"}; break`,
	},
}, {
	language: "TypeScript",
	mark:     "(?:typescript|ts)",
	suffix:   ".ts",
	runs:     []string{"node"},
	base:     `given("BURSAR_API")`,
	before: `import { signWebhook } from "./bursar.js";
const given = (name: string): string => process.env[name] ?? "";
const key = given("BURSAR_API_KEY"), secret = given("BURSAR_API_SECRET"), address = given("BURSAR_ADDRESS");
const paymentID = "payment 1", since = "2026-01-01T00:00:00Z", lastEventID = undefined;
const webhookSecret = "` + receiverSecret + `";
const request = signWebhook(webhookSecret, { eventID: "the end" }), body = request.body;
void [address, paymentID, since, lastEventID, body];
`,
	behind: "\nconsole.log(\"the end\");\n",
	shorter: map[string]string{
		"{ /* … */ }":                          "{ break; }",
		"{ /* goes on until a call fails */ }": "{ break; }",
		"console.log(event.event);":            "{ console.log(event.event); break; }",
		"./bursar/bursar.js":                   "./bursar.js",
	},
}, {
	language: "PHP",
	mark:     "php",
	suffix:   ".php",
	runs:     []string{"php"},
	base:     `getenv('BURSAR_API')`,
	before: `<?php
[$key, $secret, $address] = [getenv('BURSAR_API_KEY'), getenv('BURSAR_API_SECRET'), getenv('BURSAR_ADDRESS')];
[$paymentID, $since, $lastEventID, $webhookSecret] = ['payment 1', '2026-01-01T00:00:00Z', null, '` + receiverSecret + `'];
require_once getenv('BURSAR_PHP') . '/autoload.php';
[$headers, $body] = Bursar\Webhook::sign($webhookSecret, ['eventID' => 'the end']);
foreach ($headers as $name => $value) {
    $_SERVER['HTTP_' . strtoupper(strtr($name, '-', '_'))] = $value;
}
`,
	behind: "\necho $event['eventID'], \"\\n\";\n",
	shorter: map[string]string{
		"{ /* … */ }":                          "{ break; }",
		"{ /* goes on until a call fails */ }": "{ break; }",
		"file_get_contents('php://input')":     "$body",
		`echo $event['event'], "\n";`:          `echo $event['event'], "\n"; $event['eventID'] = 'the end'; break;`,
		"require 'clients/php/autoload.php';":  "",
		"require 'bursar/autoload.php';":       "",
	},
}, {
	language: "Go",
	mark:     "go",
	suffix:   ".go",
	runs:     []string{"go", "run"},
	base:     `os.Getenv("BURSAR_API")`,
	before: `package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/bursar/bursar/client"
)

func main() {
	ctx, key, secret := context.Background(), os.Getenv("BURSAR_API_KEY"), os.Getenv("BURSAR_API_SECRET")
	`,
	behind: "\n_ = wallet\nfmt.Println(\"the end\")\n}\n",
	shorter: map[string]string{
		"\n// …":   "\nif err != nil {\n\tpanic(err)\n}",
		"\n\t// …": "\n\tif err != nil || event.EventID == \"\" {\n\t\tpanic(err)\n\t}\n\tbreak",
	},
}}

// documentedBase is the service of the documents.
var documentedBase = regexp.MustCompile(`["']https://pay\.example(?:\.com)?["']`)

// documentsWithSnippets are the documents with code, and the languages of it.
var documentsWithSnippets = map[string][]string{
	"docs/clients.md":              {"Python", "TypeScript", "PHP"},
	"clients/python/README.md":     {"Python"},
	"clients/typescript/README.md": {"TypeScript"},
	"clients/php/README.md":        {"PHP"},
	"client/README.md":             {"Go"},
}

// program returns the code of a document as a program that comes to an end, and the name of its file.
func (k snippet) program(t *testing.T, document string) (file, text string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", document))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```" + k.mark + "\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatalf("%s has no code in %s, want some", document, k.language)
	}
	code := documentedBase.ReplaceAllLiteralString(string(block[1]), k.base)
	for long, short := range k.shorter {
		code = strings.ReplaceAll(code, long, short)
	}
	return strings.NewReplacer("/", "-", ".md", k.suffix).Replace(document), k.before + code + k.behind
}

// playSnippets has the code of the documents, as it is there, talk to the sandbox to its end: names, parameters and
// types are those of the clients. That of TypeScript is compiled with its client.
func playSnippets(t *testing.T, s *sandbox, dist string) {
	t.Helper()
	for document, languages := range documentsWithSnippets {
		for _, k := range snippets {
			if slices.Contains(languages, k.language) {
				t.Run(document+" in "+k.language, func(t *testing.T) {
					t.Parallel()
					k.plays(t, s, document, dist)
				})
			}
		}
	}
}

func (k snippet) plays(t *testing.T, s *sandbox, document, dist string) {
	file, program := k.program(t, document)
	folder := t.TempDir()
	if k.language == "TypeScript" {
		file, folder = strings.TrimSuffix(file, ".ts")+".js", dist
	} else if err := os.WriteFile(filepath.Join(folder, file), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	c, charge, address := k.customer(t, s)
	clients, err := filepath.Abs(own)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	args := append(slices.Clone(k.runs), filepath.Join(folder, file))
	played := exec.CommandContext(ctx, args[0], args[1:]...)
	played.Dir = filepath.Join("..", "..") // of Go: the module that its program is built in
	played.Env = append(os.Environ(), "BURSAR_API="+s.API, "BURSAR_API_KEY="+c.APIKey, "BURSAR_API_SECRET="+c.APISecret,
		"BURSAR_CHARGE="+charge, "BURSAR_ADDRESS="+address, "BURSAR_PHP="+filepath.Join(clients, "php"),
		"PYTHONPATH="+filepath.Join(clients, "python"), "PYTHONDONTWRITEBYTECODE=1")
	out, err := played.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "the end\n") {
		t.Errorf("it prints %s and ends with %v, want its end, of\n%s", out, err, program)
	}
	if strings.Contains(program, "withdraw(") && !strings.Contains(string(out), "insufficient_balance") {
		t.Errorf("it prints %s, want that an account without money is refused a withdrawal", out)
	}
}

// customer makes an account with an event, a charge and an address to pay.
func (k snippet) customer(t *testing.T, s *sandbox) (c customer, charge, address string) {
	t.Helper()
	s.control(t, "/account", map[string]any{"name": "snippet of " + k.language}, &c)
	var to struct{ Address string }
	s.control(t, "/address", map[string]any{"currency": "BTC"}, &to)
	var hook struct{ URL string }
	s.control(t, "/webhooks/url", nil, &hook)
	p, err := newGoPlayer(s.API, c)
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.CreateSum(t.Context(), client.NewSum{Currencies: []string{"BTC"}, Amount: "0.1", Webhook: hook.URL})
	if err == nil {
		_, err = p.TestWebhook(t.Context(), client.WebhookTest{Webhook: hook.URL})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, made.ChargeID, to.Address
}
