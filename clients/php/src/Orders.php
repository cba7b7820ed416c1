<?php

declare(strict_types=1);

namespace Bursar;

use InvalidArgumentException;

/**
 * Makes a client sign each withdrawal as an order. With a key that the operator has registered nobody but its holder
 * can have the account's money paid out, whatever happens to the service and its database. So nothing here comes from
 * the service: instance and assets are what the operator gave you by another way, or what you compared with it.
 */
final class Orders
{
    private const LONGEST = 30 * 24 * 3600;

    /** @var array<string, mixed> */
    private $config;

    /**
     * account is the account's ID, instance the signer's. assets are what each currency is on its chain; contract is ''
     * for the native asset. for is how long an order is payable, in seconds, an hour unless it is said, at most 30
     * days. now replaces the clock in tests.
     *
     * @param array{
     *     key: OrderKey,
     *     account: string,
     *     instance: string,
     *     assets: array<string, array{chain: string, contract?: string, decimals: int}>,
     *     for?: int,
     *     now?: callable(): int,
     * } $config
     */
    public function __construct(array $config)
    {
        if (!(($config['key'] ?? null) instanceof OrderKey) || ($config['account'] ?? '') === ''
            || ($config['instance'] ?? '') === '' || ($config['assets'] ?? []) === []) {
            throw new InvalidArgumentException('orders need key, account, instance and assets');
        }
        $this->config = $config + ['for' => 3600, 'now' => 'time'];
        if ($this->config['for'] < 1 || $this->config['for'] > self::LONGEST) {
            throw new InvalidArgumentException('an order is payable for at least a second and at most 30 days');
        }
    }

    /**
     * Returns the text and the signature of a withdrawal's order, to be stored and sent as order and signature. The ID
     * of the order follows from the idempotency key, so that one payment is one order. created is when the payment was
     * decided, in seconds since 1970, null for now; maxFee the most that the transaction may cost, in units of the
     * native asset, '' for no bound.
     *
     * @return array{string, string}
     */
    public function sign(
        string $currency,
        string $amount,
        string $address,
        string $idempotencyKey,
        ?int $created = null,
        string $maxFee = ''
    ): array {
        if ($idempotencyKey === '') {
            throw new InvalidArgumentException('an order needs an idempotency key');
        }
        $asset = $this->config['assets'][$currency] ?? null;
        if ($asset === null) {
            throw new InvalidArgumentException("assets does not say what $currency is");
        }
        $to = explode(':', $address, 2);
        if (isset($to[1]) && (!preg_match('/^\d{1,10}$/D', $to[1]) || (int) $to[1] > 0xffffffff)) {
            throw new InvalidArgumentException('the memo of the address is not a number');
        }
        $created = $created ?? ($this->config['now'])();
        $text = "bursar-order/1\n" . self::lines([
            'instance' => $this->config['instance'],
            'account' => $this->config['account'],
            'order' => self::id($this->config['account'], $idempotencyKey),
            'requester' => '',
            'chain' => $asset['chain'],
            'asset' => ($asset['contract'] ?? '') ?: 'native',
            'pay' => $to[0],
            'tag' => $to[1] ?? '',
            'units' => self::units($amount, $asset['decimals']),
            'max_fee' => $maxFee,
            'created' => gmdate('Y-m-d\TH:i:s\Z', $created),
            'expires' => gmdate('Y-m-d\TH:i:s\Z', $created + $this->config['for']),
        ]);
        return [$text, $this->config['key']->sign($text)];
    }

    /** @param array<string, string> $lines */
    private static function lines(array $lines): string
    {
        $text = '';
        foreach ($lines as $name => $value) {
            if (strpbrk($value, "\r\n") !== false) {
                throw new InvalidArgumentException("the $name of an order has a line break");
            }
            $text .= "$name: " . ($value === '' ? '-' : $value) . "\n";
        }
        return $text;
    }

    /** Derives the order's ID, a UUID of version 8, from the idempotency key. */
    private static function id(string $account, string $key): string
    {
        $id = substr(hash('sha256', "bursar order\0$account\0$key", true), 0, 16);
        $id[6] = chr(ord($id[6]) & 0x0f | 0x80);
        $id[8] = chr(ord($id[8]) & 0x3f | 0x80);
        return preg_replace('/^(.{8})(.{4})(.{4})(.{4})(.{12})$/', '$1-$2-$3-$4-$5', bin2hex($id));
    }

    /** Turns a plain decimal into the smallest units, exactly. */
    private static function units(string $amount, int $decimals): string
    {
        $plain = preg_match('/^(\d+)(?:\.(\d+))?$/D', $amount, $parts);
        $fraction = $parts[2] ?? '';
        $units = $plain ? ltrim($parts[1] . str_pad($fraction, $decimals, '0'), '0') : '';
        if ($units === '' || strlen($fraction) > $decimals) {
            throw new InvalidArgumentException("'$amount' is not an amount with at most $decimals decimals");
        }
        return $units;
    }

    /** Shows no key. */
    public function __debugInfo(): array
    {
        return ['account' => $this->config['account']];
    }
}
