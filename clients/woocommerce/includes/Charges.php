<?php

declare(strict_types=1);

namespace Bursar\WooCommerce;

use Bursar\BursarError;
use Bursar\Client;
use RuntimeException;
use WC_Order;

/** The charges of an order: one at a time, each with a reference that names the order and the attempt. */
final class Charges
{
    /** Metadata of the order: the number of its latest charge, and that charge's ID once it is known. */
    public const ATTEMPT = '_bursar_attempt';
    public const CHARGE = '_bursar_charge';

    private const EVENTS = ['pending', 'partial', 'overpaid', 'expired', 'cancelled', 'refunded'];

    /** @var Settings */
    private $settings;

    public function __construct(Settings $settings)
    {
        $this->settings = $settings;
    }

    /**
     * Returns the charge that the order's payer pays: the one that is there, if it still asks for the order's price, or
     * a new one. Where money has come that does not pay the order, the shop decides first. Whoever calls holds the
     * order's lock.
     *
     * @return array<string, mixed>
     */
    public function payable(WC_Order $order, string $success, string $failure, string $webhook): array
    {
        $client = $this->settings->client();
        $order->read_meta_data(true); // what another process has written since the order was loaded
        $known = (string) $order->get_meta(self::CHARGE);
        $charge = $known === '' ? null : $this->known($client, $known);
        if ($charge !== null && self::asks($charge, $order)) {
            return $charge;
        }
        if ($charge !== null && self::hasMoney($charge)) {
            throw new RuntimeException("charge $known has received money that does not pay the order");
        }
        if ($charge !== null && $charge['status'] === 'open') {
            $client->cancelCharge(['chargeID' => $known]); // its price is not the order's any more
        }
        if ($known !== '' || (int) $order->get_meta(self::ATTEMPT) === 0) {
            $this->begin($order);
        }
        $terms = $this->terms($order) + [
            'redirectSuccess' => $success,
            'redirectFailure' => $failure,
            'webhook' => $webhook,
        ];
        try {
            $charge = $client->createCharge($terms);
        } catch (BursarError $refused) {
            if ($refused->errorCode !== 'idempotency_conflict') {
                throw $refused;
            }
            $this->begin($order); // an attempt whose answer was lost had other terms
            $charge = $client->createCharge(['reference' => self::reference($order)] + $terms);
        }
        $order->update_meta_data(self::CHARGE, $charge['chargeID']);
        $order->save();
        return $charge;
    }

    /**
     * Returns a charge, null where this account of the service has none of that ID: the shop has got another one.
     *
     * @return array<string, mixed>|null
     */
    private function known(Client $client, string $charge): ?array
    {
        try {
            return $client->getCharge(['chargeID' => $charge]);
        } catch (BursarError $refused) {
            if ($refused->errorCode === 'not_found') {
                return null;
            }
            throw $refused;
        }
    }

    /** @param array<string, mixed> $charge */
    private static function hasMoney(array $charge): bool
    {
        return Decimal::compare($charge['received'], '0') > 0 || Decimal::compare($charge['pending'], '0') > 0;
    }

    /** Begins another attempt. It is stored before the charge is made: asked for again, it is the same charge. */
    private function begin(WC_Order $order): void
    {
        $order->update_meta_data(self::ATTEMPT, (string) ((int) $order->get_meta(self::ATTEMPT) + 1));
        $order->delete_meta_data(self::CHARGE);
        $order->save();
    }

    /** @return array<string, mixed> */
    private function terms(WC_Order $order): array
    {
        $terms = [
            'currency' => preg_replace('/\s+/', '', $this->settings->get('currencies')),
            'price' => self::price($order),
            'priceCurrency' => $order->get_currency(),
            'reference' => self::reference($order),
            'metadata' => (string) $order->get_id(),
            'description' => sprintf('Order %s', $order->get_order_number()),
            'events' => self::EVENTS,
        ];
        foreach (['expires' => 'expires', 'underPercent' => 'under_percent', 'contact' => 'contact'] as $name => $set) {
            if ($this->settings->get($set) !== '') {
                $terms[$name] = $this->settings->get($set);
            }
        }
        return $terms;
    }

    /** Reports whether a charge can be paid, or is, at the order's price. @param array<string, mixed> $charge */
    private static function asks(array $charge, WC_Order $order): bool
    {
        return in_array($charge['status'], ['open', 'confirming', 'paid'], true) && self::matches($charge, $order);
    }

    /** Reports whether a charge asks for what the order costs now. @param array<string, mixed> $charge */
    public static function matches(array $charge, WC_Order $order): bool
    {
        return $charge['required']['currency'] === $order->get_currency()
            && Decimal::compare($charge['required']['amount'], self::price($order)) === 0;
    }

    /** Returns what the order costs, as text. */
    public static function price(WC_Order $order): string
    {
        return (string) wc_format_decimal($order->get_total(), wc_get_price_decimals());
    }

    /** Returns the reference of the order's latest charge. */
    private static function reference(WC_Order $order): string
    {
        return self::name($order, (int) $order->get_meta(self::ATTEMPT));
    }

    /** Nobody can guess the order's key, so no charge of another system is taken for one of this order. */
    private static function name(WC_Order $order, int $attempt): string
    {
        $key = substr(hash('sha256', $order->get_order_key()), 0, 16);
        return sprintf('wc-%d-%s-%d', $order->get_id(), $key, $attempt);
    }

    /**
     * Returns the number of the order that a charge says it was made for, 0 for none.
     *
     * @param array<string, mixed> $charge
     */
    public static function number(array $charge): int
    {
        return preg_match('/^wc-(\d{1,18})-/', $charge['reference'] ?? '', $parts) ? (int) $parts[1] : 0;
    }

    /**
     * Returns the order that a charge was made for, null where it is none of this shop's.
     *
     * @param array<string, mixed> $charge
     */
    public static function order(array $charge): ?WC_Order
    {
        if (!preg_match('/^wc-(\d{1,18})-[0-9a-f]{16}-(\d{1,9})$/D', $charge['reference'] ?? '', $parts)) {
            return null;
        }
        $order = wc_get_order((int) $parts[1]);
        if (!$order instanceof WC_Order || !hash_equals(self::name($order, (int) $parts[2]), $charge['reference'])) {
            return null;
        }
        return $order;
    }

    /** Returns the page on which a charge is paid. @param array<string, mixed> $charge */
    public static function page(array $charge): string
    {
        if (!is_string($charge['checkoutURL'] ?? null)) {
            throw new RuntimeException('the service has no pages for payers: set pay.url in its configuration');
        }
        return $charge['checkoutURL'];
    }
}
