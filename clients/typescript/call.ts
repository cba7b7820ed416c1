// One call of the service: how a request is written, repeated and read.

import { randomUUID } from "node:crypto";

import type { Orders } from "./orders.js";

const maxAnswer = 64 << 20; // bytes: a thousand deposits with the longest metadata are far smaller
const firstPause = 250; // milliseconds after the first attempt; each next pause is twice as long
const passing = [429, 502, 503, 504]; // statuses after which the next attempt may succeed

/** Amounts are text: a number is not the amount that was written. */
const amounts = ["amount", "price", "minimum", "underPercent", "underAmount", "overPercent", "overAmount"];

/** Which service to call, with which key, and how often to retry. */
export interface Config {
  /** Such as https://pay.example, without /api/v1. */
  baseURL: string;
  key: string;
  /** Sent with withdrawals only. */
  secret?: string;
  /** Of each call; default 4. */
  attempts?: number;
  /** The longest wait between two attempts, in seconds; default 30. A longer Retry-After ends the call. */
  maxWait?: number;
  /** Of each attempt, in seconds; default 60. */
  timeout?: number;
  /** Signs each withdrawal and refund; default: nothing does. */
  orders?: Orders;
  /** In place of the network, in tests. */
  fetch?: typeof fetch;
  /** In place of the clock, in tests; it gets milliseconds. */
  sleep?: (milliseconds: number) => Promise<void>;
}

/** What a single call may have besides its parameters. */
export interface Options {
  /** Ends the call. */
  signal?: AbortSignal;
}

/** Options of a change. */
export interface ChangeOptions extends Options {
  /** Default: a random one for this call. A call with the same key repeats the change of the first one. */
  idempotencyKey?: string;
  /** Of the order, from an account that signs its orders. */
  signature?: string;
}

/** Options of a withdrawal or refund that the client signs. */
export interface OrderOptions extends ChangeOptions {
  /** When it was decided, in seconds since 1970; default: now. */
  created?: number;
  /** The most that the transaction may cost, in units of the native asset. */
  maxFee?: string;
  /** That was paid, of a refund. */
  currency?: string;
}

/** A response of the service, or of something in front of it, that is no success. A refused change was not made. */
export class BursarError extends Error {
  override name = "BursarError";
  /** Of a change; "" of a GET. */
  idempotencyKey = "";

  constructor(
    readonly status: number,
    /** Its meaning never changes. "": the answer is not the service's own, such as a proxy's. */
    readonly code: string,
    /** For people to read. */
    readonly reason: string,
    /** The parameter at fault; "": none. */
    readonly field: string,
    /** The path of the service's own page about the code. */
    readonly docs: string,
    /** Names the request in the service's log. */
    readonly requestID: string,
    /** Seconds to wait before the next attempt; 0 where the response does not say. */
    readonly retryAfter: number,
    /** The scope that a request needs which is forbidden; "": it is refused for something else. */
    readonly permission = "",
  ) {
    super(`status ${status}${code && ", " + code}${field && ` (${field})`}: ${reason}`);
  }
}

/** No whole response came, so the outcome of a change is not known: repeat it with the same idempotencyKey. */
export class NoResponse extends Error {
  override name = "NoResponse";
  idempotencyKey = "";
}

type Values = Record<string, unknown>;

interface Sending {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** Sends requests to one service, as one account. */
export class Caller {
  readonly #config: Required<Omit<Config, "orders">> & { orders?: Orders };
  readonly #base: string;

  constructor(config: Config) {
    const url = new URL(config.baseURL);
    if (!/^https?:$/.test(url.protocol) || url.username || url.password || /[?#]/.test(config.baseURL)) {
      throw new TypeError("baseURL must be an http or https URL without user, query and fragment");
    }
    if (!config.key) throw new TypeError("key is empty");
    const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
    this.#config = {
      secret: "", attempts: 4, maxWait: 30, timeout: 60, fetch: globalThis.fetch, sleep,
      ...config,
    };
    if (!(this.#config.attempts >= 1 && this.#config.maxWait >= 0 && this.#config.timeout > 0)) {
      throw new TypeError("attempts, maxWait and timeout must be above zero");
    }
    this.#base = config.baseURL.replace(/\/+$/, "") + "/api/v1/";
  }

  protected async get<T>(path: string, values: object, options: Options = {}): Promise<T> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(checked(values))) query.set(name, String(value));
    const url = this.#base + path + (query.size ? "?" + query : "");
    return this.#insist<T>({ method: "GET", url, headers: this.#headers(), signal: options.signal });
  }

  /** secret: X-API-SECRET belongs to the endpoint. */
  protected async change<T>(
    method: string, path: string, values: object, options: ChangeOptions = {}, secret = false,
  ): Promise<T> {
    const key = options.idempotencyKey || drawKey();
    const headers = { ...this.#headers(), "Content-Type": "application/json", "Idempotency-Key": key };
    if (secret && this.#config.secret) Object.assign(headers, { "X-API-SECRET": this.#config.secret });
    if (options.signature) Object.assign(headers, { "Bursar-Signature": options.signature });
    const body = JSON.stringify(checked(values));
    try {
      return await this.#insist<T>({ method, url: this.#base + path, headers, body, signal: options.signal });
    } catch (failed) {
      if (failed instanceof BursarError || failed instanceof NoResponse) failed.idempotencyKey = key;
      throw failed;
    }
  }

  /** Adds the order of a withdrawal or refund and its signature, unless it has one or nothing signs. */
  protected async signed<V extends { order?: string; amount?: unknown; address?: string }>(
    values: V, options: OrderOptions = {}, currency?: string,
  ): Promise<[V, ChangeOptions]> {
    const { created, maxFee, currency: paid, ...rest } = options;
    if (!this.#config.orders || values.order !== undefined) return [values, rest];
    const code = currency ?? paid;
    if (!code || typeof values.amount !== "string" || !values.address) {
      throw new TypeError("what is signed needs amount, address and currency");
    }
    const idempotencyKey = rest.idempotencyKey || drawKey();
    const { order, signature } = await this.#config.orders.sign({
      currency: code, amount: values.amount, address: values.address, idempotencyKey, created, maxFee,
    });
    return [{ ...values, order }, { ...rest, idempotencyKey, signature }];
  }

  #headers(): Record<string, string> {
    return { "X-API-KEY": this.#config.key, Accept: "application/json" };
  }

  /** Every attempt may be repeated: reading changes nothing, and a change has one Idempotency-Key in all of them. */
  async #insist<T>(sending: Sending): Promise<T> {
    const { attempts, maxWait, sleep } = this.#config;
    for (let attempt = 1, pause = firstPause; ; attempt++, pause *= 2) {
      try {
        return await this.#once<T>(sending);
      } catch (failed) {
        let wait = Math.min(pause, maxWait * 1000) * (0.5 + Math.random() / 2);
        if (failed instanceof BursarError) {
          if (!passing.includes(failed.status)) throw failed;
          if (failed.retryAfter > 0) wait = failed.retryAfter * 1000;
        } else if (!(failed instanceof NoResponse)) {
          throw failed;
        }
        if (attempt >= attempts || wait > maxWait * 1000 || sending.signal?.aborted) throw failed;
        await sleep(wait);
        if (sending.signal?.aborted) throw failed;
      }
    }
  }

  async #once<T>(sending: Sending): Promise<T> {
    const ending = new AbortController();
    const end = () => ending.abort();
    const timer = setTimeout(end, this.#config.timeout * 1000);
    sending.signal?.addEventListener("abort", end);
    if (sending.signal?.aborted) end();
    try {
      const { url, method, headers, body } = sending;
      // A redirect is an answer like any other: keys go to the configured service only.
      const init: RequestInit = { method, headers, body, redirect: "manual", signal: ending.signal };
      const response = await this.#config.fetch(url, init);
      return opened<T>(response, await textOf(response));
    } catch (failed) {
      if (failed instanceof BursarError) throw failed;
      throw new NoResponse(`${sending.method} ${sending.url.split("?")[0]}: ${failed}`, { cause: failed });
    } finally {
      clearTimeout(timer);
      sending.signal?.removeEventListener("abort", end);
    }
  }

  toJSON(): string {
    return "client of " + this.#base; // without the key
  }
}

function drawKey(): string {
  return "ts-" + randomUUID();
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const part = await reader?.read();
    if (!part || part.done) return text + decoder.decode();
    size += part.value.byteLength;
    if (size > maxAnswer) {
      await reader?.cancel();
      return "";
    }
    text += decoder.decode(part.value, { stream: true });
  }
}

function opened<T>(response: Response, text: string): T {
  if (response.status === 200 && response.headers.get("Content-Type")?.startsWith("text/csv")) {
    return { csv: text, nextCursor: response.headers.get("Bursar-Next-Cursor") ?? "" } as T;
  }
  let whole: { success?: unknown; response?: T; error?: Record<string, string> } | undefined;
  try {
    whole = JSON.parse(text);
  } catch {
    whole = undefined;
  }
  if (response.status === 200 && whole?.success === true && whole.response !== undefined) return whole.response;
  const refused = whole?.success === false && typeof whole.error === "object" ? whole.error : {};
  const reason = refused.message ?? "the response is not from this service";
  const requestID = response.headers.get("X-Request-ID") ?? "";
  throw new BursarError(response.status, refused.code ?? "", reason, refused.field ?? "", refused.docs ?? "",
    requestID, retryAfter(response.headers), refused.permission ?? "");
}

/** Reads a number of seconds, or a date, which proxies may send, by the response's own clock. */
function retryAfter(headers: Headers): number {
  const value = headers.get("Retry-After") ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - Date.parse(headers.get("Date") ?? "")) / 1000;
  return seconds > 0 ? seconds : 0;
}

/** Returns the parameters that are set, after a check of their amounts; a Date becomes text. */
function checked(values: object): Values {
  const sent: Values = {};
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    if (amounts.includes(name) && typeof value !== "string") throw new TypeError(`${name} must be text`);
    if (name === "withdrawals" && Array.isArray(value)) sent[name] = value.map(checked);
    else sent[name] = value instanceof Date ? value.toISOString() : value;
  }
  return sent;
}
