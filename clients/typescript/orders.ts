// Orders: withdrawals that their account signs, so that nobody but the holder of its key can have its money paid out.

import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from "node:crypto";

const longest = 30 * 24 * 3600; // seconds that an order may be payable

/** A key that signs orders. sign returns the value of the header Bursar-Signature. */
export interface OrderKey {
  readonly id: string;
  sign(text: string): string | Promise<string>;
}

/**
 * Takes a key of ed25519 or P-256, as Node has it or in PEM. For a key that is elsewhere, such as in a hardware module,
 * give an OrderKey of your own with the ID of orderKeyID.
 */
export function orderKey(key: KeyObject | string): OrderKey {
  const secret = typeof key === "string" ? createPrivateKey(key) : key;
  const p256 = secret.asymmetricKeyType === "ec" && secret.asymmetricKeyDetails?.namedCurve === "prime256v1";
  if (secret.asymmetricKeyType !== "ed25519" && !p256) {
    throw new TypeError("orders are signed with a key of ed25519 or P-256");
  }
  const id = orderKeyID(createPublicKey(secret));
  const signed = (text: Buffer) => p256
    ? sign("sha256", text, { key: secret, dsaEncoding: "ieee-p1363" })
    : sign(null, text, secret);
  return { id, sign: (text) => id + ":" + signed(Buffer.from(text)).toString("base64") };
}

/** Returns the ID under which the service knows a public key. */
export function orderKeyID(key: KeyObject): string {
  return createHash("sha256").update(key.export({ type: "spki", format: "der" })).digest("hex").slice(0, 32);
}

/** What a currency is on its chain. A service in other hands could call another asset by the same name. */
export interface Asset {
  chain: string;
  /** As GET wallet/currencies shows it; none for the native asset. */
  contract?: string;
  /** Of the smallest unit. */
  decimals: number;
}

/** What is the same in every order. Nothing of it comes from the service. */
export interface OrderConfig {
  key: OrderKey;
  /** The account's ID. */
  account: string;
  /** The signer's, as the operator gave it to you. */
  instance: string;
  assets: Record<string, Asset>;
  /** How long an order is payable, in seconds; default an hour, at most 30 days. */
  life?: number;
  /** In place of the clock, in tests; milliseconds since 1970. */
  now?: () => number;
}

/** A withdrawal that is ordered. */
export interface Payment {
  currency: string;
  amount: string;
  address: string;
  idempotencyKey: string;
  /** When it was decided, in seconds since 1970; default: now. The same key at the same time is the same order. */
  created?: number;
  /** The most that the transaction may cost, in units of the native asset. */
  maxFee?: string;
}

/** Makes a client sign each withdrawal as an order. */
export class Orders {
  readonly #config: Required<OrderConfig>;

  constructor(config: OrderConfig) {
    if (!config.key || !config.account || !config.instance || !Object.keys(config.assets ?? {}).length) {
      throw new TypeError("orders need key, account, instance and assets");
    }
    this.#config = { life: 3600, now: Date.now, ...config };
    if (!(this.#config.life >= 1 && this.#config.life <= longest)) {
      throw new TypeError("an order is payable for at least a second and at most 30 days");
    }
  }

  /**
   * Returns the text and the signature of a withdrawal's order, to be stored and sent as order and signature. The ID of
   * the order follows from the idempotency key, so that one payment is one order.
   */
  async sign(payment: Payment): Promise<{ order: string; signature: string }> {
    const { key, account, instance, assets, life, now } = this.#config;
    if (!payment.idempotencyKey) throw new TypeError("an order needs an idempotency key");
    const asset = Object.hasOwn(assets, payment.currency) ? assets[payment.currency] : undefined;
    if (!asset) throw new TypeError(`assets does not say what ${payment.currency} is`);
    const [base = "", ...rest] = payment.address.split(":");
    const tag = rest.join(":");
    if (rest.length && !(/^\d{1,10}$/.test(tag) && Number(tag) <= 0xffffffff)) {
      throw new TypeError("the memo of the address is not a number");
    }
    const created = payment.created ?? Math.floor(now() / 1000);
    const lines = {
      instance,
      account,
      order: orderID(account, payment.idempotencyKey),
      requester: "",
      chain: asset.chain,
      asset: asset.contract || "native",
      pay: base,
      tag,
      units: units(payment.amount, asset.decimals),
      max_fee: payment.maxFee ?? "",
      created: stamp(created),
      expires: stamp(created + life),
    };
    let order = "bursar-order/1\n";
    for (const [name, value] of Object.entries(lines)) {
      if (/[\r\n]/.test(value)) throw new TypeError(`the ${name} of an order has a line break`);
      order += `${name}: ${value || "-"}\n`;
    }
    return { order, signature: await key.sign(order) };
  }

  toJSON(): string {
    return "orders of account " + this.#config.account; // without the key
  }
}

/** Derives the order's ID, a UUID of version 8, from the idempotency key. */
function orderID(account: string, key: string): string {
  const id = createHash("sha256").update(`bursar order\0${account}\0${key}`).digest().subarray(0, 16);
  id[6] = (id[6]! & 0x0f) | 0x80;
  id[8] = (id[8]! & 0x3f) | 0x80;
  return id.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Turns a plain decimal into the smallest units, exactly. */
function units(amount: string, decimals: number): string {
  const [, whole, fraction = ""] = /^([0-9]+)(?:\.([0-9]+))?$/.exec(amount) ?? [];
  const found = whole === undefined ? "" : (whole + fraction.padEnd(decimals, "0")).replace(/^0+/, "");
  if (!found || fraction.length > decimals) {
    throw new TypeError(`"${amount}" is not an amount with at most ${decimals} decimals`);
  }
  return found;
}

function stamp(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}
