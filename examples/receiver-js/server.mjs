// Receives Bursar's webhooks: it does what every receiver must do, and nothing else. It verifies a body before it reads
// it, processes every event once, and answers 204. It keeps the events that it has processed in memory, where a real
// receiver keeps them in the database transaction that does the work.
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { Webhook } from "standardwebhooks";

const maxBody = 1 << 20;

// receiver returns a handler. take is called once for each event, and may throw: then Bursar sends the event again. The
// same event may come twice at once: the second request waits for what becomes of the first.
export function receiver(secret, take) {
  const webhook = new Webhook(secret);
  const taken = new Map(); // promises by event ID
  return async (request, response) => {
    if (request.method !== "POST" || request.url !== "/hooks/bursar") {
      return response.writeHead(404).end();
    }
    const body = await read(request);
    try {
      webhook.verify(body, request.headers);
    } catch {
      return response.writeHead(400).end("this webhook is not authentic\n");
    }
    const event = JSON.parse(body).response.webhook;
    try {
      if (!taken.has(event.eventID)) taken.set(event.eventID, Promise.resolve(event).then(take));
      await taken.get(event.eventID);
      response.writeHead(204).end();
    } catch (error) {
      taken.delete(event.eventID);
      console.error("event not taken:", error);
      response.writeHead(500).end();
    }
  };
}

// read returns the body byte for byte, or "" for one that is too long, which no signature fits.
async function read(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= maxBody) chunks.push(chunk);
  }
  return length <= maxBody ? Buffer.concat(chunks).toString("utf8") : "";
}

// Amounts are texts. Keep them so, or use a decimal library: a Number loses digits.
function take(event) {
  switch (event.event) {
    case "deposit":
      console.log(`credited ${event.deposit.amount} ${event.deposit.currency} for ${JSON.stringify(event.deposit.metadata)}`);
      break;
    case "deposit_reversed":
      console.log(`reversed ${event.deposit.depositID}: take back what it paid for`);
      break;
    case "paid":
      console.log(`paid charge ${event.charge.chargeID} with ${event.charge.amount}`);
      break;
    default: // there may be new kinds
      console.log(`left ${event.event}`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const secret = process.env.BURSAR_WEBHOOK_SECRET ?? "";
  if (!/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(secret)) {
    console.error("set BURSAR_WEBHOOK_SECRET to the account's secret: whsec_ and base64");
    process.exit(1);
  }
  const [host, port] = (process.env.LISTEN ?? "127.0.0.1:9000").split(":");
  createServer(receiver(secret, take)).listen(Number(port), host, () => console.log(`listening on http://${host}:${port}/hooks/bursar`));
}
