/* To read and to predict: a Huffman code that falls into step. (10 minutes)
 *
 * A JPEG's data are codewords of different lengths, one after the other without gaps: where one begins is
 * known only when the one before has been read. So it seems that threads cannot share the work. But a
 * thread that begins at the wrong bit reads nonsense for a while, until by chance one of its codewords
 * ends where a right one ends: from there on it reads the right codewords. So on a GPU each thread begins
 * at some bit, and neighbours compare their positions.
 *
 * The code here has four letters: e = 0, t = 10, a = 110, s = 111. The text below becomes a row of bits. Ten
 * decoders begin at its first ten bits.
 *
 * Predict, with pencil and paper: how many bits does the decoder that begins at bit 1 read before it is in
 * step? Which of the ten takes longest? And would a code whose codewords all have the same length ever
 * fall into step?
 *
 * make read-huffman runs it. A row shows a letter where a codeword begins; | is the first right one. */
#include <stdio.h>
#include <string.h>

enum { MOST = 200, STARTS = 10 };

static const char letters[] = "etas";
static const char *const codes[] = {"0", "10", "110", "111"};

/* The letter whose codeword begins at these bits, and its length; 0 after the end. */
static char letter_at(const char *bits, size_t *length)
{
    for (int i = 0; letters[i]; i++) {
        *length = strlen(codes[i]);
        if (strncmp(bits, codes[i], *length) == 0)
            return letters[i];
    }
    return 0;
}

/* Prints where the codewords of the decoder that starts at this bit begin; returns how many bits it read
 * before a right one, or -1. begins: where right ones begin. */
static int follow(const char *bits, size_t start, const char *begins)
{
    char row[MOST] = "";
    int wrong = -1;
    size_t length;
    memset(row, ' ', strlen(bits));
    for (size_t at = start; at < strlen(bits); at += length) {
        row[at] = letter_at(bits + at, &length);
        if (!row[at])
            break;
        if (begins[at] && wrong < 0) {
            wrong = (int)(at - start);
            row[at] = '|';
        }
    }
    printf("from %zu   %s\n", start, row);
    return wrong;
}

int main(void)
{
    const char *text = "sestatsaasteattessaatsetaas";
    char bits[MOST] = "", begins[MOST] = "";
    for (const char *letter = text; *letter; letter++) {
        begins[strlen(bits)] = 1;
        strcat(bits, codes[strchr(letters, *letter) - letters]);
    }
    printf("bits     %s\n", bits);
    for (size_t start = 0; start < STARTS; start++) {
        const int wrong = follow(bits, start, begins);
        if (wrong < 0)
            printf("         never in step\n");
        else
            printf("         in step after %d bits\n", wrong);
    }
    return 0;
}
