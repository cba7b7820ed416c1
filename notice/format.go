package notice

import "strings"

// Format is the form in which a webhook wants messages.
type Format string

// The formats.
const (
	Plain    Format = "json"     // Message as it is
	Slack    Format = "slack"    // {"text": …}, also of Mattermost and Rocket.Chat
	Discord  Format = "discord"  // {"content": …}
	Teams    Format = "teams"    // an Adaptive Card
	Telegram Format = "telegram" // sendMessage of a bot; the URL has its token and the chat
	Matrix   Format = "matrix"   // an m.room.message of the client-server API, by PUT
)

// Formats returns every format.
func Formats() []Format { return []Format{Plain, Slack, Discord, Teams, Telegram, Matrix} }

// mostText is how many characters a format takes; 0: as many as a message ever has. Discord refuses a content of more
// than 2000, Telegram a text of more than 4096.
var mostText = map[Format]int{Discord: 2000, Telegram: 4096}

type object map[string]any

// body is what is sent, in the form of the format. What others wrote neither mentions anybody nor becomes a link or
// markup: where the format has no way to say so, it is escaped.
func (f Format) body(m Message) any {
	text := m.Subject + "\n" + m.Text
	switch f {
	case Slack:
		return object{"text": f.cut(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text))}
	case Discord:
		return object{"content": f.cut(discord.Replace(text)), "allowed_mentions": object{"parse": []string{}},
			"flags": suppressEmbeds}
	case Telegram: // without parse_mode a text has no markup; a bot's parameters may be in the URL and the body
		return object{"text": f.cut(unmentioned.Replace(text)), "link_preview_options": object{"is_disabled": true}}
	case Matrix:
		return object{"msgtype": "m.text", "body": f.cut(text), "m.mentions": object{}}
	case Teams:
		return card(f.cut(text))
	}
	return m
}

// suppressEmbeds has Discord show no preview of a link.
const suppressEmbeds = 1 << 2

// discord keeps Discord from reading a text as Markdown. An underscore is left: it is in every link to a runbook, and
// emphasizes nothing within a word.
var discord = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "~", `\~`, "|", `\|`, "[", `\[`, "]", `\]`,
	"<", `\<`, ">", `\>`, "@", "@\u200b")

// unmentioned keeps Telegram from reading a text as the name of a user.
var unmentioned = strings.NewReplacer("@", "@\u200b")

// cut bounds a text to what the format takes.
func (f Format) cut(text string) string {
	most, all := mostText[f], []rune(text)
	if most == 0 || len(all) <= most {
		return text
	}
	return string(all[:most-1]) + "…"
}

// card is an Adaptive Card: text runs, which have no markup, one block for each row.
func card(text string) object {
	var blocks []object
	for row := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		run := object{"type": "TextRun", "text": row}
		blocks = append(blocks, object{"type": "RichTextBlock", "inlines": []object{run}})
	}
	content := object{"type": "AdaptiveCard", "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
		"version": "1.4", "body": blocks}
	return object{"type": "message", "attachments": []object{{
		"contentType": "application/vnd.microsoft.card.adaptive", "content": content}}}
}
