<?php

declare(strict_types=1);

namespace Bursar\WooCommerce;

use InvalidArgumentException;

/** Exact arithmetic with plain decimals as text, without an extension and without floats. */
final class Decimal
{
    /** Compares two decimals: below, at or above zero. */
    public static function compare(string $a, string $b): int
    {
        $places = max(self::places($a), self::places($b));
        return self::order(self::whole($a, $places), self::whole($b, $places));
    }

    /** Returns a divided by b with some decimals, rounded down, or up where something is left. */
    public static function divide(string $a, string $b, int $decimals, bool $up = false): string
    {
        $places = max(self::places($a), self::places($b));
        [$rest, $quotient] = ['', ''];
        $divisor = self::whole($b, $places);
        if ($divisor === '') {
            throw new InvalidArgumentException('division by zero');
        }
        foreach (str_split((self::whole($a, $places) ?: '0') . str_repeat('0', $decimals)) as $digit) {
            $rest = ltrim($rest . $digit, '0');
            for ($times = 0; self::order($rest, $divisor) >= 0; $times++) {
                $rest = self::subtract($rest, $divisor);
            }
            $quotient .= $times;
        }
        if ($up && $rest !== '') {
            $quotient = self::increment($quotient);
        }
        $quotient = str_pad($quotient, $decimals + 1, '0', STR_PAD_LEFT);
        $whole = ltrim(substr($quotient, 0, strlen($quotient) - $decimals), '0') ?: '0';
        return $decimals === 0 ? $whole : $whole . '.' . substr($quotient, -$decimals);
    }

    private static function increment(string $digits): string
    {
        for ($at = strlen($digits) - 1; $at >= 0 && $digits[$at] === '9'; $at--) {
            $digits[$at] = '0';
        }
        if ($at < 0) {
            return "1$digits";
        }
        $digits[$at] = (string) ((int) $digits[$at] + 1);
        return $digits;
    }

    /** Returns how many decimals a decimal has. */
    public static function places(string $decimal): int
    {
        if (!preg_match('/^\d+(?:\.(\d+))?$/D', $decimal, $parts)) {
            throw new InvalidArgumentException("'$decimal' is no decimal");
        }
        return strlen($parts[1] ?? '');
    }

    /** Returns a decimal in units of its last place, '' for zero. */
    private static function whole(string $decimal, int $places): string
    {
        return ltrim(str_replace('.', '', $decimal) . str_repeat('0', $places - self::places($decimal)), '0');
    }

    private static function order(string $a, string $b): int
    {
        return strlen($a) <=> strlen($b) ?: strcmp($a, $b);
    }

    /** Returns a less b, which is no larger. */
    private static function subtract(string $a, string $b): string
    {
        $b = str_pad($b, strlen($a), '0', STR_PAD_LEFT);
        [$digits, $borrowed] = ['', 0];
        for ($at = strlen($a) - 1; $at >= 0; $at--) {
            $digit = (int) $a[$at] - (int) $b[$at] - $borrowed;
            $borrowed = $digit < 0 ? 1 : 0;
            $digits = ($digit + 10 * $borrowed) . $digits;
        }
        return ltrim($digits, '0');
    }
}
