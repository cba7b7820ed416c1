// Receives webhooks on 127.0.0.1:9000, verifies them, and processes each event once.
//
//     BURSAR_WEBHOOK_SECRET=whsec_… node dist/receiver.js
//
// Change take to what your shop does, and store eventID in the database transaction that does the work.

import { createServer, type IncomingMessage } from "node:http";

import { type Event, signWebhook, verifyWebhook, WebhookError } from "./bursar.js";

const maxBody = 1 << 20;
const secret = process.env.BURSAR_WEBHOOK_SECRET ?? "";
const [host, port] = (process.env.LISTEN ?? "127.0.0.1:9000").split(":");
const taken = new Set<string>();

function take(event: Event): void {
  if (taken.has(event.eventID)) return;
  console.log(event.event, event.deposit?.amount ?? "");
  taken.add(event.eventID); // last: what throws is sent again
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > maxBody) throw new WebhookError("body", "the body is too long");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

signWebhook(secret, { eventID: "none" }); // throws where the secret is none
createServer(async (request, response) => {
  let status = 204;
  try {
    take(verifyWebhook(secret, request.headers, await bodyOf(request)));
  } catch (refused) {
    status = refused instanceof WebhookError ? 400 : 500;
    console.error("refused:", refused instanceof Error ? refused.message : refused);
  }
  response.writeHead(status).end();
}).listen(Number(port), host);
