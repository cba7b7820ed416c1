// Webhooks by Standard Webhooks: verify those that the service sends, and sign some for tests.

import { createHmac, timingSafeEqual } from "node:crypto";

import type { components } from "./types.js";

/** An event, of a webhook or of the feed. What it is about decides which of deposit, charge and withdrawal it has. */
export type Event = components["schemas"]["FeedEvent"];

/** Seconds by which a webhook's timestamp may be off, in either direction. */
export const tolerance = 300;

/** The webhook must not be trusted. */
export class WebhookError extends Error {
  override name = "WebhookError";

  constructor(readonly why: "secret" | "headers" | "timestamp" | "signature" | "body", message: string) {
    super(message);
  }
}

/** The headers of a request, of Node or of the Fetch API. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/**
 * Verifies a webhook and returns its event, or throws a WebhookError.
 *
 * secret is the account's, "whsec_…"; body is the request's, byte for byte as received; now is the time in seconds
 * since 1970. While the secret is rotated there is a signature of each: one valid signature is enough. Signatures are
 * compared in constant time, and nothing of the body is parsed before. An event may come several times: process each
 * eventID once.
 */
export function verifyWebhook(
  secret: string, headers: WebhookHeaders, body: Uint8Array | string, now: number = Date.now() / 1000,
): Event {
  const key = keyOf(secret);
  const [id, stamp, signatures] = ["id", "timestamp", "signature"].map((name) => one(headers, "webhook-" + name));
  if (!id || !signatures || !/^\d{1,15}$/.test(stamp ?? "")) {
    throw new WebhookError("headers", "webhook-id, webhook-timestamp or webhook-signature is missing or malformed");
  }
  if (!(Math.abs(Number(stamp) - Math.floor(now)) <= tolerance)) {
    throw new WebhookError("timestamp", "the webhook's timestamp is too far from now");
  }
  const want = mac(key, `${id}.${stamp}.`, body);
  let valid = false;
  for (const signature of signatures.split(/\s+/)) {
    if (!signature.startsWith("v1,")) continue;
    const got = fromBase64(signature.slice(3));
    valid = (got?.length === want.length && timingSafeEqual(got, want)) || valid;
  }
  if (!valid) throw new WebhookError("signature", "no signature of the webhook is valid");
  let event: Event | undefined;
  try {
    event = JSON.parse(Buffer.from(body as string).toString("utf8"))?.response?.webhook;
  } catch {
    event = undefined;
  }
  if (typeof event?.eventID !== "string") throw new WebhookError("body", "the webhook is no event");
  return event;
}

/** Returns the headers and the body with which the service would send an event, for tests of a receiver. */
export function signWebhook(
  secret: string, event: Partial<Event> & { eventID: string }, at: number = Date.now() / 1000,
): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify({ success: true, response: { webhook: event } });
  const stamp = String(Math.floor(at));
  const signature = mac(keyOf(secret), `${event.eventID}.${stamp}.`, body).toString("base64");
  const headers = {
    "content-type": "application/json",
    "webhook-id": event.eventID,
    "webhook-timestamp": stamp,
    "webhook-signature": "v1," + signature,
  };
  return { headers, body };
}

function mac(key: Buffer, prefix: string, body: Uint8Array | string): Buffer {
  return createHmac("sha256", key).update(prefix).update(body).digest();
}

/** Decodes a secret. An empty key is refused: anybody could sign with it. */
function keyOf(secret: string): Buffer {
  const key = secret.startsWith("whsec_") ? fromBase64(secret.slice(6)) : undefined;
  if (!key?.length) throw new WebhookError("secret", "the webhook secret is not whsec_ and base64");
  return key;
}

/** Buffer.from skips what is no base64: only what it writes the same way was some. */
function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}

/** Returns the value of a header that is there exactly once. */
function one(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).filter(([given]) => given.toLowerCase() === name);
  const value = found.length === 1 ? found[0]?.[1] : undefined;
  return typeof value === "string" ? value : undefined;
}
