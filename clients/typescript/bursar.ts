/**
 * Calls a Bursar service and verifies the webhooks that it sends. No package is needed, Node.js from 18 on.
 *
 *     const client = new Client({ baseURL: "https://pay.example", key, secret });
 *     const wallet = await client.createWallet({ currency: "BTC", webhook: "https://shop.example/hook" });
 *     const list = (page: object) => client.listAllDeposits({ currency: "BTC", ...page });
 *     for await (const deposit of each(list, "deposits")) { … }
 *
 * Amounts are text, of what is sent and of what is answered.
 */

import { Caller, type ChangeOptions, type Options, type OrderOptions } from "./call.js";
import type { components, operations } from "./types.js";
import type { Event } from "./webhook.js";

export { BursarError, NoResponse, type ChangeOptions, type Config, type Options, type OrderOptions } from "./call.js";
export * from "./orders.js";
export * from "./webhook.js";
export type { components, operations } from "./types.js";

type Schemas = components["schemas"];
export type Wallet = Schemas["Wallet"];
export type Deposit = Schemas["Deposit"];
export type Charge = Schemas["Charge"];
export type Link = Schemas["Link"];
export type Withdrawal = Schemas["Withdrawal"];
export type Delivery = Schemas["Delivery"];

type AmountName = "amount" | "price" | "minimum" | "underPercent" | "underAmount" | "overPercent" | "overAmount";

/** Amounts as text only; times may be a Date; what may be JSON or its text is JSON. */
type Strict<T> = {
  [K in keyof T]: K extends AmountName ? Extract<T[K], string | undefined>
    : K extends "withdrawals" ? Strict<Schemas["WithdrawalItem"]>[]
    : K extends "from" | "to" | "since" | "until" | "closesAt" ? T[K] | Date
    : T[K];
};

/** The parameters of a GET. */
export type Query<O extends keyof operations> = Strict<NonNullable<operations[O]["parameters"]["query"]>>;

/** The parameters of a change. */
export type Sent<O extends keyof operations> = operations[O] extends {
  requestBody: { content: { "application/json": infer Body } };
} ? Strict<Body> : never;

type WithdrawalItem = Strict<Schemas["WithdrawalItem"]>;

/** One withdrawal of several; created and maxFee are those of its order, where the client signs. */
export type OrderedItem = WithdrawalItem & { created?: number; maxFee?: string };

/** What an endpoint answers. */
export type Answer<O extends keyof operations> = operations[O] extends {
  responses: { 200: { content: { "application/json": { response: infer Response } } } };
} ? Response : never;

type Statement = Omit<Query<"getStatement">, "format">;

type Lists = "wallets" | "deposits" | "charges" | "links" | "ledger" | "withdrawals" | "destinations" | "webhooks";

/** Reads a list page by page: each((page) => client.listWallets({ currency: "BTC", ...page }), "wallets"). */
export async function* each<K extends Lists, Item>(
  list: (page: { cursor?: string }) => Promise<{ [Name in K]: Item[] } & { nextCursor?: string }>, name: K,
): AsyncGenerator<Item> {
  let page: { cursor?: string } = {};
  for (;;) {
    const answer = await list(page);
    yield* answer[name];
    if (!answer.nextCursor) return;
    page = { cursor: answer.nextCursor };
  }
}

/**
 * Calls one service as one account.
 *
 * Every change carries an Idempotency-Key, the same in each attempt; give idempotencyKey to repeat a change yourself. A
 * refusal rejects with a BursarError, a broken exchange with NoResponse. The secret is sent with withdrawals only.
 */
export class Client extends Caller {
  /**
   * Reads the event feed, oldest first. With wait (seconds, up to 25) it goes on until a call fails, without it until
   * there is nothing newer. Store the eventID of each event with what you made of it, and begin after it the next time.
   */
  async *feed(values: Query<"listEvents"> = {}, options?: Options): AsyncGenerator<Event> {
    for (let after = values.after; ;) {
      const page = await this.listEvents({ ...values, after }, options);
      yield* page.events;
      if (page.next === after && !Number(values.wait)) return;
      after = page.next;
    }
  }

  /** Creates a deposit address; on a chain where wallets share an address, a memo. */
  async createWallet(values: Sent<"createWallet">, options?: ChangeOptions): Promise<Answer<"createWallet">["wallet"]> {
    return (await this.change<Answer<"createWallet">>("POST", "wallet", values, options)).wallet;
  }

  /** Returns a wallet. */
  async getWallet(values: Query<"getWallet">, options?: Options): Promise<Answer<"getWallet">["wallet"]> {
    return (await this.get<Answer<"getWallet">>("wallet", values, options)).wallet;
  }

  /** Changes the metadata of a wallet, and returns the wallet. */
  async setWalletMetadata(
    values: Sent<"setWalletMetadata">, options?: ChangeOptions,
  ): Promise<Answer<"setWalletMetadata">["wallet"]> {
    return (await this.change<Answer<"setWalletMetadata">>("PUT", "wallet/metadata", values, options)).wallet;
  }

  /**
   * Changes the webhook of a wallet, of all wallets of a currency, or of all wallets of the account. Returns how many
   * were changed as updated and, with walletID, the wallet.
   */
  setWalletWebhook(values: Sent<"setWalletWebhook">, options?: ChangeOptions): Promise<Answer<"setWalletWebhook">> {
    return this.change<Answer<"setWalletWebhook">>("PUT", "wallet/webhook", values, options);
  }

  /** Returns the codes as currencies, and the details of each by its code. */
  listCurrencies(options?: Options): Promise<Answer<"listCurrencies">> {
    return this.get<Answer<"listCurrencies">>("wallet/currencies", {}, options);
  }

  /** Lists the wallets. */
  listWallets(values: Query<"listWallets"> = {}, options?: Options): Promise<Answer<"listWallets">> {
    return this.get<Answer<"listWallets">>("account/wallets", values, options);
  }

  /** Lists the deposits of a wallet. */
  listDeposits(values: Query<"listDeposits">, options?: Options): Promise<Answer<"listDeposits">> {
    return this.get<Answer<"listDeposits">>("wallet/deposits", values, options);
  }

  /** Returns a deposit. */
  async getDeposit(values: Query<"getDeposit">, options?: Options): Promise<Answer<"getDeposit">["deposit"]> {
    return (await this.get<Answer<"getDeposit">>("wallet/deposit", values, options)).deposit;
  }

  /** Returns every deposit of the account in a transaction, as a list. */
  async getDepositByHash(
    values: Query<"getDepositByHash">, options?: Options,
  ): Promise<Answer<"getDepositByHash">["deposits"]> {
    return (await this.get<Answer<"getDepositByHash">>("wallet/deposit/hash", values, options)).deposits;
  }

  /**
   * Creates a charge. With amount or price its deposits add up; else one deposit of the minimum pays it. expires and
   * rateLock are seconds.
   */
  async createCharge(values: Sent<"createCharge">, options?: ChangeOptions): Promise<Answer<"createCharge">["charge"]> {
    return (await this.change<Answer<"createCharge">>("POST", "charge", values, options)).charge;
  }

  /** Returns a charge. */
  async getCharge(values: Query<"getCharge">, options?: Options): Promise<Answer<"getCharge">["charge"]> {
    return (await this.get<Answer<"getCharge">>("charge", values, options)).charge;
  }

  /**
   * Returns the charge as soon as it is not as it was seen, or after wait seconds, and the name of its state as seen.
   * followCharge goes on by itself.
   */
  watchCharge(values: Query<"watchCharge">, options?: Options): Promise<Answer<"watchCharge">> {
    return this.get<Answer<"watchCharge">>("charge/events", values, options);
  }

  /** Reads a charge as it is now, and again at each change of it, until a call fails. */
  async *followCharge(chargeID: string, options?: Options): AsyncGenerator<Answer<"watchCharge">["charge"]> {
    for (let seen: string | undefined; ;) {
      const now = await this.watchCharge({ chargeID, seen, wait: 25 }, options);
      if (now.seen !== seen) yield now.charge;
      seen = now.seen;
    }
  }

  /** Ends a charge that adds up and is open; its addresses stay watched. */
  async cancelCharge(values: Sent<"cancelCharge">, options?: ChangeOptions): Promise<Answer<"cancelCharge">["charge"]> {
    return (await this.change<Answer<"cancelCharge">>("POST", "charge/cancel", values, options)).charge;
  }

  /** Gives a currency of a charge that adds up its address, and locks its rate. */
  async quoteCharge(values: Sent<"quoteCharge">, options?: ChangeOptions): Promise<Answer<"quoteCharge">["charge"]> {
    return (await this.change<Answer<"quoteCharge">>("POST", "charge/quote", values, options)).charge;
  }

  /** Decides about a payment of a charge: resolution is accept or credit. */
  async resolveCharge(
    values: Sent<"resolveCharge">, options?: ChangeOptions,
  ): Promise<Answer<"resolveCharge">["charge"]> {
    return (await this.change<Answer<"resolveCharge">>("POST", "charge/resolve", values, options)).charge;
  }

  /**
   * Pays a payment back by a withdrawal. Returns the charge and the withdrawal. Use the address that the payer names.
   * order and signature are those of an account that signs its orders.
   */
  async refundCharge(values: Sent<"refundCharge">, options?: OrderOptions): Promise<Answer<"refundCharge">> {
    const [sent, own] = await this.signed(values, options);
    return this.change<Answer<"refundCharge">>("POST", "charge/refund", sent, own, true);
  }

  /** Creates a payment link: a template of charges that add up. */
  async createLink(values: Sent<"createLink">, options?: ChangeOptions): Promise<Answer<"createLink">["link"]> {
    return (await this.change<Answer<"createLink">>("POST", "link", values, options)).link;
  }

  /** Returns a payment link. */
  async getLink(values: Query<"getLink">, options?: Options): Promise<Answer<"getLink">["link"]> {
    return (await this.get<Answer<"getLink">>("link", values, options)).link;
  }

  /** Closes a payment link for ever; its charges stay as they are. */
  async closeLink(values: Sent<"closeLink">, options?: ChangeOptions): Promise<Answer<"closeLink">["link"]> {
    return (await this.change<Answer<"closeLink">>("POST", "link/close", values, options)).link;
  }

  /** Lists the payment links. */
  listLinks(values: Query<"listLinks"> = {}, options?: Options): Promise<Answer<"listLinks">> {
    return this.get<Answer<"listLinks">>("account/links", values, options);
  }

  /** Returns the rates in fiat that count now, as a list. */
  async listRates(options?: Options): Promise<Answer<"listRates">["rates"]> {
    return (await this.get<Answer<"listRates">>("rates", {}, options)).rates;
  }

  /** Lists the charges. */
  listCharges(values: Query<"listCharges"> = {}, options?: Options): Promise<Answer<"listCharges">> {
    return this.get<Answer<"listCharges">>("account/charges", values, options);
  }

  /** Returns the account with its balance, pending and held by currency. */
  async getAccount(options?: Options): Promise<Answer<"getAccount">["account"]> {
    return (await this.get<Answer<"getAccount">>("account", {}, options)).account;
  }

  /** Lists the changes of the balance. The last page has the sums of archived lines as archived. */
  listLedger(values: Query<"listLedger"> = {}, options?: Options): Promise<Answer<"listLedger">> {
    return this.get<Answer<"listLedger">>("account/ledger", values, options);
  }

  /** Returns a page of the statement of a month, or of the period between from and to. */
  getStatement(values: Statement, options?: Options): Promise<Answer<"getStatement">> {
    return this.get<Answer<"getStatement">>("account/statement", values, options);
  }

  /** Returns a page of a statement as CSV. The pages behind each other are one file; nextCursor is "" on the last one. */
  getStatementCSV(values: Statement, options?: Options): Promise<{ csv: string; nextCursor: string }> {
    return this.get<{ csv: string; nextCursor: string }>("account/statement", { ...values, format: "csv" }, options);
  }

  /**
   * Withdraws. Use your own ID of the payment, stored before the call, as idempotencyKey or reference. With it the
   * payment is made once, even if this process dies and another asks again. Without either, a second call is a second
   * payment. order and signature are those of an account that signs its orders.
   */
  async withdraw(values: Sent<"withdraw">, options?: OrderOptions): Promise<Answer<"withdraw">["withdrawal"]> {
    const [sent, own] = await this.signed(values, options, values.currency);
    return (await this.change<Answer<"withdraw">>("POST", "account/withdraw", sent, own, true)).withdrawal;
  }

  /** Returns what a withdrawal would cost, and holds nothing. */
  async quoteWithdrawal(
    values: Query<"quoteWithdrawal">, options?: Options,
  ): Promise<Answer<"quoteWithdrawal">["quote"]> {
    return (await this.get<Answer<"quoteWithdrawal">>("account/withdraw/fee", values, options)).quote;
  }

  /** Cancels a withdrawal that cannot have been signed yet, and returns it. */
  async cancelWithdrawal(
    values: Sent<"cancelWithdrawal">, options?: ChangeOptions,
  ): Promise<Answer<"cancelWithdrawal">["withdrawal"]> {
    const answer = await this.change<Answer<"cancelWithdrawal">>(
      "POST", "account/withdraw/cancel", values, options, true,
    );
    return answer.withdrawal;
  }

  /** Returns a withdrawal. */
  async getWithdrawal(
    values: Query<"getWithdrawal">, options?: Options,
  ): Promise<Answer<"getWithdrawal">["withdrawal"]> {
    return (await this.get<Answer<"getWithdrawal">>("account/withdrawal", values, options)).withdrawal;
  }

  /**
   * Withdraws up to 100 times, and returns a result for each, in their order. Each has its own reference, and its
   * withdrawal or its error. Repeat the call after any error of the whole, and where a result is unavailable or
   * internal: none is taken twice. A client with orders signs each by its reference, with its created and maxFee.
   */
  async withdrawEach(
    values: { withdrawals: OrderedItem[] }, options?: ChangeOptions,
  ): Promise<Answer<"withdrawEach">["results"]> {
    const withdrawals = await Promise.all(values.withdrawals.map((item) => this.#signedItem(item)));
    const sent = { withdrawals };
    return (await this.change<Answer<"withdrawEach">>("POST", "account/withdrawals", sent, options, true)).results;
  }

  /** Returns one withdrawal of several with its order, unless it has one or nothing signs. */
  async #signedItem({ created, maxFee, ...item }: OrderedItem): Promise<WithdrawalItem> {
    const options = { idempotencyKey: item.reference, created, maxFee };
    const [sent, { signature }] = await this.signed(item, options, item.currency);
    return signature === undefined ? sent : { ...sent, signature };
  }

  /** Lists the withdrawals. */
  listWithdrawals(values: Query<"listWithdrawals"> = {}, options?: Options): Promise<Answer<"listWithdrawals">> {
    return this.get<Answer<"listWithdrawals">>("account/withdrawals", values, options);
  }

  /** Lists the destinations of withdrawals; The page has enabled and enabledUntil too. */
  listDestinations(values: Query<"listDestinations"> = {}, options?: Options): Promise<Answer<"listDestinations">> {
    return this.get<Answer<"listDestinations">>("account/destinations", values, options);
  }

  /** Returns the keys that sign orders, whether they are required, and the signer's instance. */
  listOrderKeys(options?: Options): Promise<Answer<"listOrderKeys">> {
    return this.get<Answer<"listOrderKeys">>("account/order-keys", {}, options);
  }

  /** Lists the deposits to all wallets and charges. */
  listAllDeposits(values: Query<"listAllDeposits"> = {}, options?: Options): Promise<Answer<"listAllDeposits">> {
    return this.get<Answer<"listAllDeposits">>("account/deposits", values, options);
  }

  /** Finds what has exactly a text: wallets, charges, deposits and withdrawals. */
  search(values: Query<"search">, options?: Options): Promise<Answer<"search">> {
    return this.get<Answer<"search">>("account/search", values, options);
  }

  /** Lists what was asked with the account's keys; status is one such as 422, or a class such as 4xx. */
  listRequests(values: Query<"listRequests"> = {}, options?: Options): Promise<Answer<"listRequests">> {
    return this.get<Answer<"listRequests">>("account/requests", values, options);
  }

  /** Returns a page of events, oldest first, and the position behind it as next. feed reads on by itself. */
  listEvents(values: Query<"listEvents"> = {}, options?: Options): Promise<Answer<"listEvents">> {
    return this.get<Answer<"listEvents">>("account/events", values, options);
  }

  /** Lists the events and their delivery. */
  listDeliveries(values: Query<"listDeliveries"> = {}, options?: Options): Promise<Answer<"listDeliveries">> {
    return this.get<Answer<"listDeliveries">>("account/webhooks", values, options);
  }

  /** Sends one event, or all since a time, again, and returns how many. */
  async redeliver(values: Sent<"redeliver">, options?: ChangeOptions): Promise<Answer<"redeliver">["redelivered"]> {
    return (await this.change<Answer<"redeliver">>("POST", "account/webhooks/redeliver", values, options)).redelivered;
  }

  /** Sends a test event to a wallet's webhook, a URL or the account's webhook, and returns its delivery. */
  async testWebhook(
    values: Sent<"testWebhook"> = {}, options?: ChangeOptions,
  ): Promise<Answer<"testWebhook">["webhook"]> {
    return (await this.change<Answer<"testWebhook">>("POST", "account/webhooks/test", values, options)).webhook;
  }
}
