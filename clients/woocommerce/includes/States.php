<?php

declare(strict_types=1);

namespace Bursar\WooCommerce;

use RuntimeException;
use WC_Order;

/** Which status an order has, by what is known of its charges. */
final class States
{
    /** Metadata of the order: the version of each of its charges that it knows, as JSON by their IDs. */
    public const VERSIONS = '_bursar_versions';

    /** Metadata of the order: the charge that paid it. */
    public const PAID_BY = '_bursar_paid_by';

    private const UNPAID = ['pending', 'failed', 'cancelled', 'checkout-draft'];

    /**
     * Brings an order up to date with a charge. Events come several times and in any order: what is not newer than what
     * is known changes nothing. Whoever calls holds the order's lock.
     *
     * @param array<string, mixed> $charge
     */
    public static function apply(WC_Order $order, array $charge): void
    {
        $versions = json_decode((string) $order->get_meta(self::VERSIONS), true) ?: [];
        if ($charge['version'] <= ($versions[$charge['chargeID']] ?? 0)) {
            return;
        }
        self::change($order, $charge);
        $versions[$charge['chargeID']] = $charge['version'];
        $order->update_meta_data(self::VERSIONS, wp_json_encode($versions)); // behind the change, which may be repeated
        $order->save();
    }

    /** @param array<string, mixed> $charge */
    private static function change(WC_Order $order, array $charge): void
    {
        if (in_array('refunded', $charge['labels'], true)) {
            self::refunded($order, $charge);
            return;
        }
        if ($charge['status'] === 'paid') {
            self::paid($order, $charge);
            return;
        }
        if ($order->get_meta(self::PAID_BY) === $charge['chargeID']) {
            self::reversed($order, $charge);
            return;
        }
        if ($order->is_paid() || $order->has_status('refunded')) {
            self::unsettled($order, $charge);
            return;
        }
        self::open($order, $charge);
    }

    /** @param array<string, mixed> $charge */
    private static function paid(WC_Order $order, array $charge): void
    {
        $by = (string) $order->get_meta(self::PAID_BY);
        $ours = $by === $charge['chargeID'] || $order->get_transaction_id() === $charge['chargeID'];
        if (!$ours && ($by !== '' || $order->is_paid() || $order->has_status('refunded'))) {
            self::note($order, sprintf(
                'The order was paid once more, by charge %s: refund what it received.',
                $charge['chargeID']
            ));
            return;
        }
        if ($by === '') { // otherwise the shop goes on with the order as it wants to
            if (!$ours || !$order->is_paid()) { // this process may have died behind it
                self::complete($order, $charge);
            }
            $order->update_meta_data(self::PAID_BY, $charge['chargeID']);
            $order->save();
        }
        if (in_array('over', $charge['labels'], true)) {
            self::note($order, sprintf(
                '%s %s more was paid than was asked for: refund it, or keep it.',
                $charge['over'],
                $charge['required']['currency']
            ));
        }
    }

    /** The order is paid for the first time, or again. @param array<string, mixed> $charge */
    private static function complete(WC_Order $order, array $charge): void
    {
        $order->set_transaction_id($charge['chargeID']); // by which it is refunded
        $hashes = self::hashes($charge);
        if (!Charges::matches($charge, $order)) {
            self::hold($order, sprintf(
                'Charge %s of %s %s is paid by %s, and the order costs %s %s now: compare them before you deliver.',
                $charge['chargeID'],
                $charge['required']['amount'],
                $charge['required']['currency'],
                $hashes,
                Charges::price($order),
                $order->get_currency()
            ));
        } elseif ($order->has_status('cancelled')) {
            self::hold($order, "Paid by $hashes, after the order was cancelled: deliver it, or refund it.");
        } else {
            if (!$order->payment_complete($charge['chargeID'])) { // it catches what a hook throws
                throw new RuntimeException('the order could not be completed: see the note of WooCommerce');
            }
            self::note($order, "Paid by $hashes.");
        }
    }

    /** The payment was reorged out: the order is paid no more. @param array<string, mixed> $charge */
    private static function reversed(WC_Order $order, array $charge): void
    {
        $order->delete_meta_data(self::PAID_BY);
        $order->save();
        self::hold($order, sprintf(
            'The payment of charge %s is no longer on its chain. Do not deliver before it is paid again.',
            $charge['chargeID']
        ));
    }

    /** Money came by another charge than the one that paid. @param array<string, mixed> $charge */
    private static function unsettled(WC_Order $order, array $charge): void
    {
        if ($charge['attention']) {
            self::note($order, sprintf('A payment of charge %s waits for your decision.', $charge['chargeID']));
        }
    }

    /** @param array<string, mixed> $charge */
    private static function open(WC_Order $order, array $charge): void
    {
        $unit = $charge['required']['currency'];
        $credited = Decimal::compare($charge['received'], '0') > 0;
        if ($charge['status'] === 'confirming') {
            self::hold($order, 'The payment was seen and waits for confirmations.');
        } elseif ($charge['attention']) {
            self::hold($order, sprintf(
                'A payment waits for your decision (%s): %s of %s %s were credited.',
                implode(', ', $charge['labels']),
                $charge['received'],
                $charge['required']['amount'],
                $unit
            ));
        } elseif ($charge['status'] === 'open' && $credited) {
            self::hold($order, sprintf('%s %s were paid, %s are due.', $charge['received'], $unit, $charge['due']));
        } elseif (in_array($charge['status'], ['expired', 'cancelled'], true) && !$credited) {
            self::ended($order, $charge);
        }
    }

    /** A charge has ended without a payment. The payer may pay the order again. @param array<string, mixed> $charge */
    private static function ended(WC_Order $order, array $charge): void
    {
        $latest = $order->get_meta(Charges::CHARGE) === $charge['chargeID'];
        if (!$latest || $order->get_payment_method() !== Gateway::ID || !$order->has_status(['pending', 'on-hold'])) {
            return;
        }
        $order->update_status('failed', sprintf('Charge %s has %s unpaid.', $charge['chargeID'], $charge['status']));
    }

    /** All that was credited is refunded, here or elsewhere. @param array<string, mixed> $charge */
    private static function refunded(WC_Order $order, array $charge): void
    {
        $text = sprintf('All that charge %s received is refunded.', $charge['chargeID']);
        $by = (string) $order->get_meta(self::PAID_BY);
        if ($by === $charge['chargeID'] && !$order->has_status('refunded')) {
            $order->update_status('refunded', $text);
        } elseif ($by === '' && $order->has_status('on-hold')) {
            $order->update_status('cancelled', $text); // it was never paid
        } else {
            self::note($order, $text);
        }
    }

    /** Puts an order on hold, and says why. */
    private static function hold(WC_Order $order, string $why): void
    {
        if ($order->is_paid() || $order->has_status(self::UNPAID)) {
            $order->update_status('on-hold', $why);
            return;
        }
        self::note($order, $why);
    }

    private static function note(WC_Order $order, string $text): void
    {
        $order->add_order_note($text);
    }

    /** @param array<string, mixed> $charge */
    private static function hashes(array $charge): string
    {
        $counted = array_filter($charge['payments'], static fn (array $p): bool => $p['counted']);
        $texts = array_map(static fn (array $p): string => "$p[amount] $p[currency] in $p[hashID]", $counted);
        return implode(', ', $texts) ?: "charge $charge[chargeID]";
    }
}
