<?php

declare(strict_types=1);

namespace Bursar;

use DateTimeInterface;
use Generator;
use InvalidArgumentException;

/**
 * Calls one service as one account.
 *
 *     $client = new Bursar\Client(['baseURL' => 'https://pay.example', 'key' => $key, 'secret' => $secret]);
 *     $wallet = $client->createWallet(['currency' => 'BTC', 'webhook' => 'https://shop.example/hook']);
 *     foreach ($client->each('listAllDeposits', ['currency' => 'BTC']) as $deposit) {
 *         echo $deposit['depositID'], ' ', $deposit['amount'], "\n";
 *     }
 *
 * Methods, parameters and answers have the names of the API; answers are arrays. Amounts are text: compute with bcmath,
 * and never with a float, which is refused where it is sent. Every change carries an Idempotency-Key, the same in each
 * attempt; give idempotencyKey to repeat a change yourself. A refusal throws a BursarError, a broken exchange
 * NoResponse.
 */
final class Client extends Caller
{
    /** The lists, and the name of what is listed in the answer. */
    private const LISTS = [
        'listWallets' => 'wallets',
        'listDeposits' => 'deposits',
        'listLinks' => 'links',
        'listCharges' => 'charges',
        'listLedger' => 'ledger',
        'listWithdrawals' => 'withdrawals',
        'listDestinations' => 'destinations',
        'listAllDeposits' => 'deposits',
        'listDeliveries' => 'webhooks',
        'listRequests' => 'requests',
    ];

    /**
     * Reads a list page by page: each('listWallets', ['currency' => 'BTC']).
     *
     * @param array<string, mixed> $filters
     * @return Generator<int, array<string, mixed>>
     */
    public function each(string $list, array $filters = []): Generator
    {
        if (!isset(self::LISTS[$list])) {
            throw new InvalidArgumentException("$list is no list");
        }
        do {
            $page = $this->call($list, $filters);
            foreach ($page[self::LISTS[$list]] as $item) {
                yield $item;
            }
            $filters['cursor'] = $page['nextCursor'] ?? '';
        } while ($filters['cursor'] !== '');
    }

    /**
     * Reads the event feed, oldest first. With wait (seconds, up to 25) it goes on until a call fails, without it until
     * there is nothing newer. Store the eventID of each event with what you made of it, and begin after it the next
     * time.
     *
     * @param array{after?: string, wait?: int, type?: string, event?: string, limit?: int} $values
     * @return Generator<int, array<string, mixed>>
     */
    public function feed(array $values = []): Generator
    {
        for (;;) {
            $page = $this->listEvents($values);
            foreach ($page['events'] as $event) {
                yield $event;
            }
            if ($page['next'] === ($values['after'] ?? null) && (int) ($values['wait'] ?? 0) === 0) {
                return;
            }
            $values['after'] = $page['next'];
        }
    }

    /**
     * Creates a deposit address; on a chain where wallets share an address, a memo.
     *
     * @param array{currency: string, webhook: string, metadata?: string} $values
     * @param array{idempotencyKey?: string} $options
     * @return array<string, mixed>
     */
    public function createWallet(array $values, array $options = []): array
    {
        return $this->call('createWallet', $values, $options)['wallet'];
    }

    /**
     * Returns a wallet.
     *
     * @param array{walletID: string} $values
     * @return array<string, mixed>
     */
    public function getWallet(array $values): array
    {
        return $this->call('getWallet', $values)['wallet'];
    }

    /**
     * Changes the metadata of a wallet, and returns the wallet.
     *
     * @param array{walletID: string, metadata: string} $values
     * @param array{idempotencyKey?: string} $options
     * @return array<string, mixed>
     */
    public function setWalletMetadata(array $values, array $options = []): array
    {
        return $this->call('setWalletMetadata', $values, $options)['wallet'];
    }

    /**
     * Changes the webhook of a wallet, of all wallets of a currency, or of all wallets of the account. Returns how many
     * were changed as "updated" and, with walletID, the "wallet".
     *
     * @param array{webhook: string, walletID?: string, currency?: string} $values
     * @param array{idempotencyKey?: string} $options
     * @return array<string, mixed>
     */
    public function setWalletWebhook(array $values, array $options = []): array
    {
        return $this->call('setWalletWebhook', $values, $options);
    }

    /**
     * Returns the codes as "currencies", and the "details" of each by its code.
     *
     * @return array<string, mixed>
     */
    public function listCurrencies(): array
    {
        return $this->call('listCurrencies');
    }

    /**
     * Lists the "wallets", newest first.
     *
     * @param array{
     *     currency?: string,
     *     metadata?: string,
     *     address?: string,
     *     from?: string|DateTimeInterface,
     *     to?: string|DateTimeInterface,
     *     limit?: int|string,
     *     cursor?: string,
     * } $values
     * @return array<string, mixed>
     */
    public function listWallets(array $values = []): array
    {
        return $this->call('listWallets', $values);
    }

    /**
     * Lists the "deposits" of a wallet.
     *
     * @param array{
     *     walletID: string,
     *     status?: string,
     *     currency?: string,
     *     hashID?: string,
     *     from?: string|DateTimeInterface,
     *     to?: string|DateTimeInterface,
     *     limit?: int|string,
     *     cursor?: string,
     * } $values
     * @return array<string, mixed>
     */
    public function listDeposits(array $values): array
    {
        return $this->call('listDeposits', $values);
    }

    /**
     * Returns a deposit.
     *
     * @param array{depositID: string} $values
     * @return array<string, mixed>
     */
    public function getDeposit(array $values): array
    {
        return $this->call('getDeposit', $values)['deposit'];
    }

    /**
     * Returns every deposit of the account in a transaction, as a list.
     *
     * @param array{hashID: string} $values
     * @return list<array<string, mixed>>
     */
    public function getDepositByHash(array $values): array
    {
        return $this->call('getDepositByHash', $values)['deposits'];
    }

    /**
     * Creates a charge. With amount or price its deposits add up; else one deposit of the minimum pays it. expires and
     * rateLock are seconds.
     *
     * @param array{
     *     currency: string|list<string>,
     *     webhook: string,
     *     metadata?: string,
     *     minimum?: string|int,
     *     expires?: int|string,
     *     amount?: string|int,
     *     price?: string|int,
     *     priceCurrency?: string,
     *     rateLock?: int|string,
     *     underPercent?: string|int,
     *     underAmount?: string|int,
     *     overPercent?: string|int,
     *     overAmount?: string|int,
     *     late?: string,
     *     other?: string,
     *     reference?: string,
     *     description?: string,
     *     customer?: string,
     *     redirectSuccess?: string,
     *     redirectFailure?: string,
     *     contact?: string,
     *     locale?: string,
     *     linkFormat?: string,
     *     events?: string|list<string>,
     * } $values
     * @param array{idempotencyKey?: string} $options
     * @return array<string, mixed>
     */
    public function createCharge(array $values, array $options = []): array
    {
        return $this->call('createCharge', $values, $options)['charge'];
    }

    /**
     * Returns a charge.
     *
     * @param array{chargeID: string} $values
     * @return array<string, mixed>
     */
    public function getCharge(array $values): array
    {
        return $this->call('getCharge', $values)['charge'];
    }

    /**
     * Returns the "charge" as soon as it is not as it was seen, or after wait seconds, and the name of its state as
     * "seen". followCharge goes on by itself.
     *
     * @param array{chargeID: string, seen?: string, wait?: int|string} $values
     * @return array<string, mixed>
     */
    public function watchCharge(array $values): array
    {
        return $this->call('watchCharge', $values);
    }

    /**
     * Reads a charge as it is now, and again at each change of it, until a call fails.
     *
     * @return Generator<int, array<string, mixed>>
     */
    public function followCharge(string $chargeID, int $wait = 25): Generator
    {
        for ($seen = null;; $seen = $page['seen']) {
            $known = $seen === null ? [] : ['seen' => $seen];
            $page = $this->watchCharge(['chargeID' => $chargeID, 'wait' => $wait] + $known);
            if ($page['seen'] !== $seen) {
                yield $page['charge'];
            }
        }
    }

    /**
     * Ends a charge that adds up and is open; its addresses stay watched.
     *
     * @param array{chargeID: string} $values
     * @param array{idempotencyKey?: string} $options
     * @return array<string, mixed>
     */
    public function cancelCharge(array $values, array $options = []): array
    {
        return $this->call('cancelCharge', $values, $options)['charge'];
    }

    /**
     * Gives a currency of a charge that adds up its address, and locks its rate.
     *
     * @param array{chargeID: string, currency: string} $values
     * @param array{idempotencyKey?: string} $options
     * @return array<string, mixed>
     */
    public function quoteCharge(array $values, array $options = []): array
    {
        return $this->call('quoteCharge', $values, $options)['charge'];
    }

    /**
     * Decides about a payment of a charge: resolution is accept or credit.
     *
     * @param array{chargeID: string, depositID: string, resolution: string} $values
     * @param array{idempotencyKey?: string} $options
     * @return array<string, mixed>
     */
    public function resolveCharge(array $values, array $options = []): array
    {
        return $this->call('resolveCharge', $values, $options)['charge'];
    }

    /**
     * Pays a payment back by a withdrawal, and returns the "charge" and the "withdrawal". Use the address that the
     * payer names. Give your own ID of the refund, stored before the call, as idempotencyKey.
     *
     * @param array{
     *     chargeID: string,
     *     depositID: string,
     *     address: string,
     *     amount?: string|int,
     *     part?: string,
     *     rate?: string,
     *     fee?: string,
     *     order?: string,
     * } $values
     * @param array{
     *     idempotencyKey?: string,
     *     signature?: string,
     *     created?: int,
     *     maxFee?: string,
     *     currency?: string,
     * } $options
     * @return array<string, mixed>
     */
    public function refundCharge(array $values, array $options = []): array
    {
        [$values, $options] = $this->signed($values, $options, $options['currency'] ?? '');
        return $this->call('refundCharge', $values, $options);
    }

    /**
     * Creates a payment link: a template of charges that add up.
     *
     * @param array{
     *     currency: string|list<string>,
     *     webhook: string,
     *     metadata?: string,
     *     expires?: int|string,
     *     amount?: string|int,
     *     price?: string|int,
     *     priceCurrency?: string,
     *     rateLock?: int|string,
     *     underPercent?: string|int,
     *     underAmount?: string|int,
     *     overPercent?: string|int,
     *     overAmount?: string|int,
     *     late?: string,
     *     other?: string,
     *     description?: string,
     *     redirectSuccess?: string,
     *     redirectFailure?: string,
     *     contact?: string,
     *     locale?: string,
     *     linkFormat?: string,
     *     events?: string|list<string>,
     *     fields?: string|list<string>,
     *     maxUses?: int|string,
     *     closesAt?: string|DateTimeInterface,
     * } $values
     * @param array{idempotencyKey?: string} $options
     * @return array<string, mixed>
     */
    public function createLink(array $values, array $options = []): array
    {
        return $this->call('createLink', $values, $options)['link'];
    }

    /**
     * Returns a payment link.
     *
     * @param array{linkID: string} $values
     * @return array<string, mixed>
     */
    public function getLink(array $values): array
    {
        return $this->call('getLink', $values)['link'];
    }

    /**
     * Closes a payment link for ever; its charges stay as they are.
     *
     * @param array{linkID: string} $values
     * @param array{idempotencyKey?: string} $options
     * @return array<string, mixed>
     */
    public function closeLink(array $values, array $options = []): array
    {
        return $this->call('closeLink', $values, $options)['link'];
    }

    /**
     * Lists the payment "links".
     *
     * @param array{
     *     open?: bool|string,
     *     metadata?: string,
     *     currency?: string,
     *     from?: string|DateTimeInterface,
     *     to?: string|DateTimeInterface,
     *     limit?: int|string,
     *     cursor?: string,
     * } $values
     * @return array<string, mixed>
     */
    public function listLinks(array $values = []): array
    {
        return $this->call('listLinks', $values);
    }

    /**
     * Returns the rates in fiat that count now, as a list.
     *
     * @return list<array<string, mixed>>
     */
    public function listRates(): array
    {
        return $this->call('listRates')['rates'];
    }

    /**
     * Lists the "charges".
     *
     * @param array{
     *     status?: string,
     *     label?: string,
     *     attention?: bool|string,
     *     reference?: string,
     *     customer?: string,
     *     metadata?: string,
     *     currency?: string,
     *     from?: string|DateTimeInterface,
     *     to?: string|DateTimeInterface,
     *     limit?: int|string,
     *     cursor?: string,
     * } $values
     * @return array<string, mixed>
     */
    public function listCharges(array $values = []): array
    {
        return $this->call('listCharges', $values);
    }

    /**
     * Returns the account with its "balance", "pending" and "held" by currency.
     *
     * @return array<string, mixed>
     */
    public function getAccount(): array
    {
        return $this->call('getAccount')['account'];
    }

    /**
     * Lists the changes of the balance as "ledger". The last page has the sums of archived lines as "archived".
     *
     * @param array{
     *     currency?: string,
     *     kind?: string,
     *     since?: string|DateTimeInterface,
     *     until?: string|DateTimeInterface,
     *     limit?: int|string,
     *     cursor?: string,
     * } $values
     * @return array<string, mixed>
     */
    public function listLedger(array $values = []): array
    {
        return $this->call('listLedger', $values);
    }

    /**
     * Returns a page of the statement of a month ('2026-01'), or of the period between from and to. With format 'csv' it
     * is ['csv' => text, 'nextCursor' => cursor]: the texts behind each other are one file.
     *
     * @param array{
     *     month?: string,
     *     from?: string|DateTimeInterface,
     *     to?: string|DateTimeInterface,
     *     currency?: string,
     *     format?: string,
     *     limit?: int|string,
     *     cursor?: string,
     * } $values
     * @return array<string, mixed>
     */
    public function getStatement(array $values = []): array
    {
        return $this->call('getStatement', $values);
    }

    /**
     * Withdraws. Use your own ID of the payment, stored before the call, as idempotencyKey or reference. With it the
     * payment is made once, even if this process dies and another asks again. Without either, a second call is a second
     * payment.
     *
     * @param array{
     *     currency: string,
     *     amount: string|int,
     *     address: string,
     *     reference?: string,
     *     metadata?: array<string, string>,
     *     order?: string,
     * } $values
     * @param array{idempotencyKey?: string, signature?: string, created?: int, maxFee?: string} $options
     * @return array<string, mixed>
     */
    public function withdraw(array $values, array $options = []): array
    {
        [$values, $options] = $this->signed($values, $options, $values['currency'] ?? '');
        return $this->call('withdraw', $values, $options)['withdrawal'];
    }

    /**
     * Returns what a withdrawal would cost, and holds nothing.
     *
     * @param array{currency: string, amount: string|int, address: string} $values
     * @return array<string, mixed>
     */
    public function quoteWithdrawal(array $values): array
    {
        return $this->call('quoteWithdrawal', $values)['quote'];
    }

    /**
     * Cancels a withdrawal that cannot have been signed yet, and returns it.
     *
     * @param array{withdrawalID: string} $values
     * @param array{idempotencyKey?: string} $options
     * @return array<string, mixed>
     */
    public function cancelWithdrawal(array $values, array $options = []): array
    {
        return $this->call('cancelWithdrawal', $values, $options)['withdrawal'];
    }

    /**
     * Returns a withdrawal.
     *
     * @param array{withdrawalID: string} $values
     * @return array<string, mixed>
     */
    public function getWithdrawal(array $values): array
    {
        return $this->call('getWithdrawal', $values)['withdrawal'];
    }

    /**
     * Withdraws up to 100 times, and returns a result for each, in their order. Each has its own reference, and its
     * "withdrawal" or its "error". Repeat the call after any error of the whole, and where a result is unavailable or
     * internal: none is taken twice. Where the client signs orders, created and maxFee of each are those of its order.
     *
     * @param array{withdrawals: list<array<string, mixed>>} $values
     * @param array{idempotencyKey?: string} $options
     * @return list<array<string, mixed>>
     */
    public function withdrawEach(array $values, array $options = []): array
    {
        $values['withdrawals'] = array_map([$this, 'signedItem'], $values['withdrawals'] ?? []);
        return $this->call('withdrawEach', $values, $options)['results'];
    }

    /**
     * Lists the "withdrawals". metadata is the text of a JSON object, and selects exactly that.
     *
     * @param array{
     *     status?: string,
     *     currency?: string,
     *     hashID?: string,
     *     address?: string,
     *     reference?: string,
     *     metadata?: string,
     *     from?: string|DateTimeInterface,
     *     to?: string|DateTimeInterface,
     *     limit?: int|string,
     *     cursor?: string,
     * } $values
     * @return array<string, mixed>
     */
    public function listWithdrawals(array $values = []): array
    {
        return $this->call('listWithdrawals', $values);
    }

    /**
     * Lists the "destinations" of withdrawals; the page has "enabled" and "enabledUntil" too.
     *
     * @param array{
     *     currency?: string,
     *     address?: string,
     *     usable?: bool|string,
     *     limit?: int|string,
     *     cursor?: string,
     * } $values
     * @return array<string, mixed>
     */
    public function listDestinations(array $values = []): array
    {
        return $this->call('listDestinations', $values);
    }

    /**
     * Returns the "keys" that sign orders, whether they are "required", and the signer's "instance".
     *
     * @return array<string, mixed>
     */
    public function listOrderKeys(): array
    {
        return $this->call('listOrderKeys');
    }

    /**
     * Lists the "deposits" to all wallets and charges.
     *
     * @param array{
     *     status?: string,
     *     currency?: string,
     *     hashID?: string,
     *     address?: string,
     *     from?: string|DateTimeInterface,
     *     to?: string|DateTimeInterface,
     *     limit?: int|string,
     *     cursor?: string,
     * } $values
     * @return array<string, mixed>
     */
    public function listAllDeposits(array $values = []): array
    {
        return $this->call('listAllDeposits', $values);
    }

    /**
     * Finds what has exactly a text: "wallets", "charges", "deposits" and "withdrawals".
     *
     * @param array{q: string} $values
     * @return array<string, mixed>
     */
    public function search(array $values): array
    {
        return $this->call('search', $values);
    }

    /**
     * Returns a page of "events", oldest first, and the position behind it as "next". feed reads on by itself.
     *
     * @param array{
     *     after?: string,
     *     type?: string,
     *     event?: string,
     *     wait?: int|string,
     *     limit?: int|string,
     * } $values
     * @return array<string, mixed>
     */
    public function listEvents(array $values = []): array
    {
        return $this->call('listEvents', $values);
    }

    /**
     * Lists the events and their delivery as "webhooks".
     *
     * @param array{
     *     status?: string,
     *     event?: string,
     *     from?: string|DateTimeInterface,
     *     to?: string|DateTimeInterface,
     *     limit?: int|string,
     *     cursor?: string,
     * } $values
     * @return array<string, mixed>
     */
    public function listDeliveries(array $values = []): array
    {
        return $this->call('listDeliveries', $values);
    }

    /**
     * Lists what was asked with the account's keys; status is one such as 422, or a class such as 4xx.
     *
     * @param array{
     *     status?: string, path?: string, requestID?: string, limit?: int, cursor?: string,
     * } $values
     * @return array<string, mixed>
     */
    public function listRequests(array $values = []): array
    {
        return $this->call('listRequests', $values);
    }

    /**
     * Sends one event, or all since a time, again, and returns how many.
     *
     * @param array{eventID?: string, since?: string|DateTimeInterface} $values
     * @param array{idempotencyKey?: string} $options
     */
    public function redeliver(array $values = [], array $options = []): int
    {
        return $this->call('redeliver', $values, $options)['redelivered'];
    }

    /**
     * Sends a test event to a wallet's webhook, a URL or the account's webhook, and returns its delivery.
     *
     * @param array{walletID?: string, webhook?: string} $values
     * @param array{idempotencyKey?: string} $options
     * @return array<string, mixed>
     */
    public function testWebhook(array $values = [], array $options = []): array
    {
        return $this->call('testWebhook', $values, $options)['webhook'];
    }

    /**
     * Signs the order of a withdrawal or refund, unless it is signed already or nothing here signs orders.
     *
     * @param array<string, mixed> $values
     * @param array<string, mixed> $options
     * @return array{array<string, mixed>, array<string, mixed>}
     */
    private function signed(array $values, array $options, string $currency): array
    {
        if ($this->orders() === null || isset($values['order'])) {
            return [$values, $options];
        }
        if ($currency === '' || !isset($values['amount'], $values['address'])) {
            throw new InvalidArgumentException('what is signed needs amount, address and currency');
        }
        $key = (string) ($options['idempotencyKey'] ?? '');
        $options['idempotencyKey'] = $key === '' ? self::drawKey() : $key; // '0' is a key too
        [$values['order'], $options['signature']] = $this->orders()->sign(
            $currency,
            (string) $values['amount'],
            $values['address'],
            $options['idempotencyKey'],
            $options['created'] ?? null,
            $options['maxFee'] ?? ''
        );
        return [$values, $options];
    }

    /**
     * Signs the order of one withdrawal of several. Its reference is its idempotency key.
     *
     * @param array<string, mixed> $item
     * @return array<string, mixed>
     */
    private function signedItem(array $item): array
    {
        $options = ['idempotencyKey' => $item['reference'] ?? ''] + array_filter(
            ['created' => $item['created'] ?? null, 'maxFee' => $item['maxFee'] ?? null],
            static fn ($value): bool => $value !== null
        );
        unset($item['created'], $item['maxFee']);
        if ($this->orders() !== null && $options['idempotencyKey'] === '') {
            throw new InvalidArgumentException('each withdrawal of several needs a reference');
        }
        [$item, $options] = $this->signed($item, $options, $item['currency'] ?? '');
        return $item + (isset($options['signature']) ? ['signature' => $options['signature']] : []);
    }
}
