#include "launches.h"
void check_plans(void)
{
}
void check_jpeg(void)
{
}
